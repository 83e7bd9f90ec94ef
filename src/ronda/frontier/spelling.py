"""The paths of robots.txt and of URLs, spelled so that they can be compared.

RFC 9309, 2.2.2: what is outside ASCII is percent-encoded on both sides, and an escape
that need not be one is undone. Google's parser, whose suite we keep to, leaves the
second to the letter of the file. So there are two spellings, `written` and `plain`.
"""

import re
from urllib.parse import quote

_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
# No escape, no `*` or `$`, and nothing that a URL cannot hold: one spelling only.
_SIMPLE = re.compile(r"[!&-)+-;=?-\[\]_a-z~]*")
_SIMPLE_RULE = re.compile(r"[!&-;=?-\[\]_a-z~]*\$?")  # `*`, and `$` at its end
_FOREIGN = re.compile(r"[^!#-;=?-\[\]_a-z~]")
_SAFE = "!#$%&'()*+,/:;=?@[]~"
_BEFORE_PATH = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.\-]*:)?//[^/?#]*|[^/?#]*")


def _escapes(characters: str) -> dict[str, str]:
    return {f"%{ord(character):02X}": character for character in characters}


_UNRESERVED = (
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"  # RFC 3986
)
# Reserved, but without a meaning of their own in the path, or behind the first `?`.
_IN_PATH = _escapes(_UNRESERVED + "!'(),:;@&=+[]")
_IN_QUERY = _escapes(_UNRESERVED + "!'(),:;@/?[]")


def path_of(url: str) -> str:
    """The path and query of a URL; what has no scheme may begin with its host."""
    found = _BEFORE_PATH.match(url)
    path = url[found.end() if found else 0 :].partition("#")[0]
    return path if path.startswith("/") else "/" + path


def is_simple(path: str) -> bool:
    """Whether there is but one way to spell a path."""
    return _SIMPLE.fullmatch(path) is not None


def is_simple_rule(path: str) -> bool:
    """Whether there is but one way to spell the path of a rule."""
    return _SIMPLE_RULE.fullmatch(path) is not None


def written(text: str) -> str:
    """As it is written, in the letters of a URL, the escapes in upper case."""
    if _FOREIGN.search(text):
        # What was not UTF-8 in a file is in surrogates, and becomes its bytes again.
        escaped = re.search("[\ud800-\udc7f\udd00-\udfff]", text) is None
        errors = "surrogateescape" if escaped else "surrogatepass"
        text = quote(text.encode("utf-8", errors), safe=_SAFE)
    return _ESCAPE.sub(lambda found: found[0].upper(), text) if "%" in text else text


def plain(path: str) -> str:
    """A path as `written` gives it, without the escapes that mean nothing."""
    if "%" not in path:
        return path
    head, mark, tail = path.partition("?")
    return _undo(head, _IN_PATH) + mark + _undo(tail, _IN_QUERY)


def plain_url(path: str) -> str:
    """A URL's path, plain: `*` and `$` stand for themselves (RFC 9309, 2.2.3)."""
    return plain(path).replace("*", "%2A").replace("$", "%24")


def plain_rule(path: str) -> str:
    """A rule's path, plain: `*` keeps its meaning, and `$` at the end."""
    end = "$" if path.endswith("$") else ""
    return plain(path.removesuffix("$")).replace("$", "%24") + end


def _undo(text: str, table: dict[str, str]) -> str:
    return _ESCAPE.sub(lambda found: table.get(found[0], found[0]), text)
