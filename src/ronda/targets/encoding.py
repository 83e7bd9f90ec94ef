"""Bytes as text: by their byte order mark, the charset they came with, UTF-8, Latin."""

import codecs
import re
from functools import lru_cache

# Byte order marks, and the codec that drops them. UTF-32 is not on the web, and its
# mark begins as that of UTF-16 does.
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_MARKED = tuple(_MARKS)
# Python also calls idna, punycode and escapes "encodings"; no server may choose those.
_CHARSETS = re.compile(
    r"utf-(8|16)|cp\d+|iso(8859|2022)|koi8|gb|hz|big5|euc|shift_jis|mac|tis|johab"
)
_LATIN = "cp1252"  # what the web means by Latin-1
# A comment, whole or left open; or a <meta>. Neither pattern looks at a byte twice.
_META = re.compile(rb"<!--.*?(?:-->|\Z)|<meta\b([^<>]*+)", re.IGNORECASE | re.DOTALL)
_DECLARED = re.compile(rb"charset\s*=\s*[\"']?\s*([\w.:\-]+)", re.IGNORECASE)
_TOP = 16 * 1024  # bytes of a page in which it may declare its charset
_ESCAPE = b"\x1b"  # without it, ASCII is ASCII in every charset


def marked(data: bytes) -> str:
    """The codec that a byte order mark names, or an empty string."""
    if not data.startswith(_MARKED):
        return ""
    return next(codec for mark, codec in _MARKS.items() if data.startswith(mark))


def decoded(data: bytes, charset: str = "") -> str:
    """Any bytes as text, without a mark and with lines that end in newlines."""
    text = _decoded(data, marked(data) or codec_of(charset) or "utf-8")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def markup(data: bytes) -> str:
    """A page as text: by its byte order mark, its <meta>, UTF-8, Latin."""
    is_known = marked(data) or (data.isascii() and _ESCAPE not in data)
    return decoded(data, "" if is_known else _declared(data))


def _declared(data: bytes) -> str:
    """The charset that the top of a page names."""
    for meta in _META.finditer(data, 0, _TOP):
        if found := _DECLARED.search(meta[1] or b""):
            name = found[1].decode("ascii")
            # Who can read "charset=utf-16" in ASCII reads no UTF-16.
            return "utf-8" if name.lower().startswith("utf-16") else name
    return ""


@lru_cache(maxsize=256)
def codec_of(charset: str) -> str:
    """Python's name for a charset of the web, or an empty string."""
    try:
        name = codecs.lookup(charset).name if charset else ""
    except (LookupError, ValueError):
        return ""
    if name in {"ascii", "iso8859-1"}:
        return _LATIN
    return name if _CHARSETS.match(name) else ""


def as_utf8(data: bytes, charset: str) -> bytes:
    """Bytes that say by themselves how to be read, whatever their header said."""
    mark = marked(data)
    if mark == "utf-8-sig" or not (codec := mark or codec_of(charset)):
        return data
    if codec != "utf-8":
        data = data.decode(codec, "replace").encode("utf-8", "replace")
    return codecs.BOM_UTF8 + data


def _decoded(data: bytes, codec: str) -> str:
    if codec == "utf-8-sig":  # Python's codec of that name takes four times as long
        return data[len(codecs.BOM_UTF8) :].decode("utf-8", "replace")
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        spare = _LATIN if codec == "utf-8" else codec
        return data.decode(spare, "replace")
