"""The name of a URL on disk: one that any file system takes, and no way out of it."""

import hashlib
import re
import unicodedata

from ronda import urls

SEGMENT = 200  # bytes of one name; file systems take 255
WHOLE = 800  # bytes of a path; systems take 4,096, and a folder is before it
DEEPEST = 32  # names of a path

# Types whose links are rewritten, and how their files must end for a browser to
# know them without a server; the first is added.
ENDINGS = {
    "text/html": (".html", ".htm"),
    "application/xhtml+xml": (".html", ".htm"),
    "text/css": (".css",),
}
_PARTS = re.compile(r"[^:/?#]*:(?://[^/?#]*)?/?([^?#]*)(?:\?([^#]*))?", re.DOTALL)
_ESCAPED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_ENDING = re.compile(r"(?<=.)\.[A-Za-z0-9]{1,8}\Z", re.DOTALL)
_FORBIDDEN = frozenset('<>:"/\\|?*')  # by Windows, where the tree may be carried
_DEVICES = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\.|\Z)", re.IGNORECASE
)


def plain(url: str, media_type: str) -> tuple[str, ...]:
    """The folders and the name of a URL, as long as no other has them.

    Two URLs may have the same, or differ by case alone; `tailed` tells them apart.
    """
    found = _PARTS.match(url)
    path, query = found.groups() if found else (url, None)
    *folders, name = path.split("/")
    last = _bounded(_clean(_file(name, query, media_type)), url)
    names = [_host(url), *(_bounded(_clean(folder), folder) for folder in folders)]
    kept, size = 0, 0
    for folder in names:
        size += len(folder.encode()) + 1
        kept += size <= WHOLE - SEGMENT and kept < DEEPEST
    if kept < len(names):
        last = tailed(last, url)
    return (*names[:kept], last)


def tailed(name: str, seed: str) -> str:
    """A name with a hash of something in it, for when it is taken or too long."""
    stem, ending = _split(name)
    room = SEGMENT - len(ending) - 11
    head = stem.encode()[:room].decode(errors="ignore")
    data = seed.encode(errors="surrogatepass")
    return f"{head}~{hashlib.blake2b(data, digest_size=5).hexdigest()}{ending}"


def folded(path: str) -> str:
    """What a path is to a file system that knows no case and composes its accents."""
    once = unicodedata.normalize("NFC", path).casefold()
    return unicodedata.normalize("NFC", once)


def _host(url: str) -> str:
    name, port = urls.host(url) or "_", urls.port(url)
    text = _bounded(_clean(f"{name}_{port}" if port else name), url)
    return f"_{text}" if text.startswith(".") else text  # ours begin with a dot


def _file(name: str, query: str | None, media_type: str) -> str:
    endings = ENDINGS.get(media_type, ())
    stem, ending = _split(name)
    if not name:
        stem, ending = "index", "" if media_type else ".html"
    text = f"{stem}@{query}{ending}" if query is not None else stem + ending
    return text if not endings or text.lower().endswith(endings) else text + endings[0]


def _split(name: str) -> tuple[str, str]:
    found = _ENDING.search(name[-10:])
    ending = found[0] if found else ""
    return name.removesuffix(ending), ending


def _clean(segment: str) -> str:
    """A segment as a name: readable where it can be, escaped where it must be."""
    text = "".join(map(_safe, _ESCAPED.sub(_unescaped, segment)))
    if text[-1:] in {".", " "}:  # Windows drops them; `..` is not to be anywhere
        text = f"{text[:-1]}%{ord(text[-1]):02X}"
    return f"_{text}" if not text or _DEVICES.match(text) else text


def _unescaped(match: re.Match[str]) -> str:
    try:
        text = bytes.fromhex(match[0].replace("%", "")).decode()
    except UnicodeDecodeError:
        return match[0]
    is_plain = text.isprintable() and "%" not in text
    return text if is_plain and _FORBIDDEN.isdisjoint(text) else match[0]


def _safe(letter: str) -> str:
    if letter.isprintable() and letter not in _FORBIDDEN:
        return letter
    return "".join(f"%{b:02X}" for b in letter.encode(errors="surrogatepass"))


def _bounded(name: str, seed: str) -> str:
    return name if len(name.encode()) <= SEGMENT else tailed(name, seed)
