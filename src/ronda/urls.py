"""URLs by the WHATWG standard: normalise, join, and take apart what was normalised."""

import re

import ada_url

from ronda.errors import UrlError

LONGEST = 64 * 1024  # characters; longer ones are a mistake or an attack

# A normalised URL with an authority: scheme, user info, name, port.
_AUTHORITY = re.compile(
    r"([a-z][a-z0-9+.\-]*)://(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)(?::(\d+))?"
)
# URLs of the web that are in their one spelling already: lower-case names or plain
# addresses, no escapes, no default port. Most are, and to see it costs a third of
# parsing them. A test holds it against the parser.
_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_PLAIN = re.compile(
    r"https?://"
    rf"(?:(?:[a-z0-9][a-z0-9\-]*\.)+[a-z]{{2,63}}|(?:{_BYTE}\.){{3}}{_BYTE})"
    r"(?::(?!80/|443/)(?:[1-9][0-9]{1,3}|[1-5][0-9]{4}))?"
    r"/[A-Za-z0-9_\-~!$&'()*+,;=@:./]*"
    r"(?:\?[A-Za-z0-9_\-~!$&()*+,;=@:./?]*)?"
)
# Steps upwards, and names in punycode, which have rules of their own.
_DOUBT = re.compile(r"/\.|--")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
# In any text: whatever may be meant for a password, slashes too.
_SECRET = re.compile(r"(?<=[/\\:])[^\s/\\@:]*:\S*@")
_CREDENTIALS = re.compile(r"(?<=://)[^/?#@]*@")


def normalise(text: str) -> str:
    """The one spelling of an absolute URL.

    Raises:
        UrlError: the text is not an absolute URL, or longer than any server takes.
    """
    if _PLAIN.fullmatch(text) and not _DOUBT.search(text) and len(text) < LONGEST:
        return text
    return _parse(ada_url.normalize_url, text)


def join(base: str, reference: str) -> str:
    """A reference as seen from a base, normalised.

    Raises:
        UrlError: base and reference do not make a URL.
    """
    return _parse(ada_url.join_url, base, reference)


def _parse(parse: object, *texts: str) -> str:
    if len(texts[-1]) > LONGEST:
        raise UrlError(f"URL of {len(texts[-1]):,} characters: too long")
    try:
        return parse(*texts)  # type: ignore[operator, no-any-return]
    except ValueError:  # also UnicodeError: lone surrogates
        raise UrlError(f"not a URL: {shown(masked(texts[-1]))}") from None


def is_absolute(text: str) -> bool:
    """Whether a text begins with a scheme."""
    return _SCHEME.match(text) is not None


def scheme(url: str) -> str:
    """The scheme of a normalised URL."""
    return url[: url.index(":")]


def host(url: str) -> str:
    """The name or address a normalised URL asks for, without its port."""
    found = _AUTHORITY.match(url)
    return found[2] if found else ""


def host_key(url: str) -> str:
    """The host of a normalised URL, in the one spelling that politeness knows it by.

    Schemes that are not of the web keep capitals, and any name may end with a dot.
    """
    name = host(url).lower()
    return name if name[-1:] != "." else name.rstrip(".") or name


def port(url: str) -> int | None:
    """The port a normalised URL names, when it is not its scheme's own."""
    found = _AUTHORITY.match(url)
    return int(found[3]) if found and found[3] else None


def authority(url: str) -> str:
    """Scheme, name and port of a normalised URL of the web, without user and password.

    What a robots.txt speaks for, and what connections are kept for.
    """
    return without_credentials("/".join(url.split("/", 3)[:3]))


def split_fragment(url: str) -> tuple[str, str]:
    """A normalised URL as what is asked for, and the fragment within it."""
    if "#" not in url:
        return url, ""
    page, _, fragment = url.partition("#")
    return page, fragment


def without_credentials(url: str) -> str:
    """A normalised URL as it may be shown: no user, no password."""
    return _CREDENTIALS.sub("", url, count=1) if "@" in url else url


def masked(text: str) -> str:
    """A text that is no normalised URL, without what may be a user and a password."""
    return _SECRET.sub("", text) if "@" in text else text


def shown(text: str, length: int = 100) -> str:
    """A text from outside, safe and short enough for one line."""
    if "@" in text:  # before it is cut: half a password is no longer seen as one
        text = _CREDENTIALS.sub("", text)
    cut = text if len(text) <= length else text[: length - 1] + "…"
    return "".join(c if c.isprintable() else "�" for c in cut)
