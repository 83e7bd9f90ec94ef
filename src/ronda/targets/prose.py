"""URLs in running text: where they begin, and which closing marks are not theirs."""

import re
from collections import Counter
from collections.abc import Iterator

# What ends a URL in running text: space, the characters RFC 3986 forbids that people
# put round URLs, and the full stops, commas and brackets of Chinese and Japanese.
# Braces are forbidden too, but to cut https://example.org/{id} there makes up a link.
_URL = re.compile(
    r"(?<![\w+.\-])(?:https?|ftps?|sftp)://[^\s<>\"`|\\^。，、；！？（）【】「」『』《》]+",
    re.IGNORECASE,
)
_TRAILING = frozenset(".,:;!?'*_~…’”»“«‘")
_PAIRS = {")": "(", "]": "[", "}": "{"}


def urls_in(text: str) -> Iterator[tuple[int, str]]:
    """Every URL of a text with its offset."""
    if "://" not in text:
        return
    for match in _URL.finditer(text):
        url = trimmed(match[0])
        if not url.endswith("://"):
            yield match.start(), url


def trimmed(url: str) -> str:
    """A URL without the punctuation and closing brackets of the sentence round it."""
    end = len(url)
    counts = Counter(url) if url[-1:] in _PAIRS or url[-1:] in _TRAILING else None
    while counts and end:
        last = url[end - 1]
        unbalanced = last in _PAIRS and counts[last] > counts[_PAIRS[last]]
        if last not in _TRAILING and not unbalanced:
            break
        counts[last] -= 1
        end -= 1
    return url[:end]
