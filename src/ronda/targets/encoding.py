"""Bytes as text: by their byte order mark, the charset they came with, UTF-8, Latin."""

import codecs
import re

# Byte order marks, and the codec that drops them. UTF-32 is not on the web, and its
# mark begins as that of UTF-16 does.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Python also calls idna, punycode and escapes "encodings"; no server may choose those.
_CHARSETS = re.compile(
    r"utf-(8|16)|cp\d+|iso(8859|2022)|koi8|gb|hz|big5|euc|shift_jis|mac|tis|johab"
)
_LATIN = "cp1252"  # what the web means by Latin-1


def marked(data: bytes) -> str:
    """The codec that a byte order mark names, or an empty string."""
    return next((codec for mark, codec in _MARKS if data.startswith(mark)), "")


def decoded(data: bytes, charset: str = "") -> str:
    """Any bytes as text, without a mark and with lines that end in newlines."""
    text = _decoded(data, marked(data) or codec_of(charset) or "utf-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


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
    codec = codec_of(charset)
    if marked(data) or not codec:
        return data
    if codec != "utf-8":
        data = data.decode(codec, "replace").encode("utf-8", "replace")
    return codecs.BOM_UTF8 + data


def _decoded(data: bytes, codec: str) -> str:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        spare = _LATIN if codec == "utf-8" else codec
        return data.decode(spare, "replace")
