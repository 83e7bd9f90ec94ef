"""The registry of formats, and how a document's format is told."""

import re

from ronda.targets import (
    hypertext,
    jsontext,
    manifest,
    markdown,
    pdf,
    restructured,
    stylesheet,
    table,
    textlist,
    xmlfile,
)
from ronda.targets.source import Source

TEXT = Source(
    name="text",
    suffixes=(".txt", ".lst", ".urls"),
    media_types=("text/plain", "text/uri-list"),
    read=textlist.read,
    is_list=True,
)
MARKDOWN = Source(
    name="markdown",
    suffixes=(".md", ".markdown", ".mdx"),
    media_types=("text/markdown", "text/x-markdown"),
    read=markdown.read,
    is_list=False,
)
HTML = Source(
    name="html",  # and the bookmark files of browsers
    suffixes=(".html", ".htm", ".xhtml"),
    media_types=("text/html", "application/xhtml+xml"),
    read=hypertext.read,
    is_list=False,
)
RST = Source(
    name="rst",
    suffixes=(".rst",),
    media_types=("text/x-rst", "text/prs.fallenstein.rst"),
    read=restructured.read,
    is_list=False,
)
JSON = Source(
    name="json",
    suffixes=(".json",),
    media_types=("application/json", "text/json"),
    read=jsontext.read,
    is_list=True,
)
JSON_LINES = Source(
    name="jsonl",
    suffixes=(".jsonl", ".ndjson"),
    media_types=("application/jsonl", "application/x-ndjson"),
    read=jsontext.read_lines,
    is_list=True,
)
TABLE = Source(
    name="csv",
    suffixes=(".csv", ".tsv"),
    media_types=("text/csv", "text/tab-separated-values"),
    read=table.read,
    is_list=True,
)
SITEMAP = Source(
    name="sitemap",
    suffixes=(".xml",),
    media_types=("application/xml", "text/xml"),
    read=xmlfile.read,
    is_list=True,
)
OPML = Source(
    name="opml",
    suffixes=(".opml",),
    media_types=("text/x-opml", "text/x-opml+xml"),
    read=xmlfile.read,
    is_list=False,
)
CSS = Source(
    name="css",
    suffixes=(".css",),
    media_types=("text/css",),
    read=stylesheet.read,
    is_list=False,
)
MANIFEST = Source(
    name="manifest",  # of a web app
    suffixes=(".webmanifest",),
    media_types=("application/manifest+json",),
    read=manifest.read,
    is_list=False,
)
PDF = Source(
    name="pdf",  # with the extra of that name
    suffixes=(".pdf",),
    media_types=("application/pdf",),
    read=pdf.read,
    is_list=False,
    is_text=False,
)
SOURCES = (
    *(TEXT, MARKDOWN, HTML, RST, JSON, JSON_LINES, TABLE, SITEMAP, OPML),
    *(CSS, MANIFEST, PDF),
)

_BY_SUFFIX = {suffix: source for source in SOURCES for suffix in source.suffixes}
_BY_MEDIA_TYPE = {kind: source for source in SOURCES for kind in source.media_types}
# Servers send these for files they know nothing of; the name says more.
_VAGUE = frozenset(
    {"", "text/plain", "application/octet-stream", "binary/octet-stream"}
    | {"application/gzip", "application/x-gzip"}
)
# First bytes, after white space. A list in brackets could also be a Markdown link.
_SIGNS = (
    (re.compile(rb"<(\?xml|urlset|sitemapindex|opml)\b", re.IGNORECASE), SITEMAP),
    (re.compile(rb"<"), HTML),
    (re.compile(rb"%PDF-"), PDF),
    (re.compile(rb"\{[^\n]*\}\s*\n\s*\{"), JSON_LINES),
    (re.compile(rb'\{\s*["}]|\[\s*["{\]]'), JSON),
)
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([\w.:\-]+)", re.IGNORECASE)
_BLANK = b"\xef\xbb\xbf \t\r\n"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def by_suffix(path: str) -> Source | None:
    """The format that a name ends in, compressed or not."""
    name = path.lower().removesuffix(".gz")
    return _BY_SUFFIX.get(name[name.rfind(".") :]) if "." in name else None


def of_file(path: str, head: bytes) -> Source | None:
    """The format of a file; what is not known is a text list, if it is text at all."""
    found = by_suffix(path) or _sniffed(head)
    if found or (b"\0" in head and not head.startswith(_UTF16)):
        return found
    return TEXT


def of_answer(url: str, content_type: str, head: bytes) -> Source | None:
    """The format of what a server sent; None for what holds no links we can read."""
    kind = _kind(content_type)
    if kind not in _VAGUE:
        return _BY_MEDIA_TYPE.get(kind)
    found = by_suffix(_path(url)) or _sniffed(head)
    return found or (TEXT if kind == "text/plain" else None)


def media_type(url: str, content_type: str) -> str:
    """The media type of an answer, by its name where the server does not know it."""
    kind = _kind(content_type)
    found = by_suffix(_path(url)) if kind in _VAGUE else None
    return found.media_types[0] if found else kind


def charset(content_type: str) -> str:
    """The charset that a Content-Type names, or an empty string."""
    found = _CHARSET.search(content_type)
    return found[1] if found else ""


def _kind(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _path(url: str) -> str:
    return url.partition("#")[0].partition("?")[0]


def _sniffed(head: bytes) -> Source | None:
    start = head.lstrip(_BLANK)
    return next((source for sign, source in _SIGNS if sign.match(start)), None)
