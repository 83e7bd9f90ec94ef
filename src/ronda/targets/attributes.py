"""The attributes of HTML that name URLs; every reader of HTML asks here."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from ronda.targets import stylesheet

Values = Mapping[str, str]  # the attributes of an element, by lower-case names

BLANK = " \t\n\r\f"  # what HTML takes for white space, and drops round a URL
# Not documents: what a page carries in itself, or what only its scripts understand.
_OWN = ("javascript:", "data:", "about:", "blob:")
_LONGEST_OWN = len(max(_OWN, key=len))
# These warm up a connection to a host; nothing is at the URL itself.
_HINTS = frozenset({"preconnect", "dns-prefetch"})
_RELATED = frozenset({"a", "area", "link"})
_DESCRIBED = frozenset({"img", "area", "input"})  # their words are in alt

_REFRESH = re.compile(
    r"\s*+[\d.]++\s*+[;,]\s*+(?:url\s*+=)?['\"\s]*([^'\"]*)", re.IGNORECASE
)
# A URL of a srcset, and its size; a comma at the URL's end says that there is none.
_CANDIDATE = re.compile(r"([^\s,]\S*+)(?:(?<=,)|[^,]*+)")
_ARCHIVE = re.compile(r"[^\s,]+")
# An option's value that is an address: a menu which leads elsewhere.
_ADDRESS = re.compile(
    r"(?:https?://|//?|\.\.?/)[^\s/]\S*\Z|[^\s:]+\.(?:html?|php|aspx?|jsp)(?:[?#]|\Z)",
    re.IGNORECASE,
)
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.\-]*:|/", re.IGNORECASE)


def urls_of(tag: str, values: Values) -> Iterator[tuple[str, str]]:
    """What an element names, in the order it is written; of a style's, the tag is css.

    Args:
        tag: its name in lower case.
        values: its attributes; a <style> has its text as its style.
    """
    for name in _ANCHOR if tag == "a" else values:
        take = _TAKE.get(name)
        if take is None or name not in values:
            continue
        for url in take(tag, values[name], values):
            if (stripped := url.strip(BLANK)) and not is_own(stripped):
                yield (stylesheet.TAG if name == "style" else tag), stripped


def is_own(url: str) -> bool:
    """Whether a reference leads nowhere but into the page itself."""
    return ":" in url and url[:_LONGEST_OWN].lower().startswith(_OWN)


def rel_of(tag: str, values: Values) -> str:
    """How an element says it is related to what it names."""
    return values.get("rel", "").lower() if tag in _RELATED else ""


def words_of(tag: str, values: Values) -> str:
    """The words that stand in place of a picture."""
    return values.get("alt", "") if tag in _DESCRIBED else ""


def _plain(_tag: str, value: str, _values: Values) -> Iterable[str]:
    return (value,)


def _href(tag: str, value: str, values: Values) -> Iterable[str]:
    if tag == "link" and not _HINTS.isdisjoint(rel_of(tag, values).split()):
        return ()
    # An anchor of SVG has either, and two links of one anchor would be one too many.
    return (value,) if tag != "a" or value is values.get("href", value) else ()


def _action(_tag: str, value: str, values: Values) -> Iterable[str]:
    """What answers a POST need not answer a GET."""
    return () if values.get("method", "").lower() == "post" else (value,)


def _srcset(_tag: str, value: str, _values: Values) -> Iterable[str]:
    return (match[1].rstrip(",") for match in _CANDIDATE.finditer(value))


def _content(tag: str, value: str, values: Values) -> Iterable[str]:
    if tag != "meta" or values.get("http-equiv", "").strip().lower() != "refresh":
        return ()
    found = _REFRESH.match(value)
    return (found[1],) if found else ()


def _style(_tag: str, value: str, _values: Values) -> Iterable[str]:
    return (url for _, url in stylesheet.urls_in(value))


def _data(tag: str, value: str, values: Values) -> Iterable[str]:
    return (_based(value, values),) if tag == "object" else ()


def _code(tag: str, value: str, values: Values) -> Iterable[str]:
    return (_based(value, values),) if tag == "applet" else ()


def _archive(tag: str, value: str, values: Values) -> Iterable[str]:
    if tag not in {"applet", "object"}:
        return ()
    return (_based(name, values) for name in _ARCHIVE.findall(value))


def _value(tag: str, value: str, _values: Values) -> Iterable[str]:
    stripped = value.strip(BLANK)
    return (stripped,) if tag == "option" and _ADDRESS.match(stripped) else ()


def _based(url: str, values: Values) -> str:
    """A URL as seen from the codebase of its element, which is always a folder."""
    folder, name = values.get("codebase", "").strip(BLANK), url.strip(BLANK)
    if not folder or not name or _ABSOLUTE.match(name):
        return name
    return f"{folder.removesuffix('/')}/{name}"


# Attributes that name something which can be asked for. Not: ping and formaction (they
# take POST), codebase and profile (prefixes), usemap (a name within the page).
_TAKE: dict[str, Callable[[str, str, Values], Iterable[str]]] = {
    **dict.fromkeys(("src", "poster", "cite", "longdesc", "background"), _plain),
    **dict.fromkeys(("href", "xlink:href"), _href),
    **dict.fromkeys(("srcset", "imagesrcset"), _srcset),
    "action": _action,
    "content": _content,
    "style": _style,
    "data": _data,
    "code": _code,
    "archive": _archive,
    "value": _value,
}
_ANCHOR = ("href", "xlink:href", "style")  # all that an <a> may have of them
# The elements that may name a URL, as CSS selects them.
_ONLY = {"content": "meta", "data": "object", "code": "applet", "value": "option"}
_ESCAPED = str.maketrans({":": r"\:"})
NAMING = ",".join(
    ["style", *(f"{_ONLY.get(n, '')}[{n.translate(_ESCAPED)}]" for n in _TAKE)]
)
