"""Sites to crawl, written to disk from a seed: the same bytes in every run.

A page is text with links in it, as people write them: absolute paths, paths relative
to the page, links of other sites in full. Page n links to pages 4n+1 … 4n+4, so that
each is reached from the front page in a few steps, and beyond them to pages by chance.
Nothing but pages is linked, since the rivals do not agree on what else is a link.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct

CHILDREN = 4
IN_A_FOLDER = 100
TEXT = """
watchman walks round the town at night and tells the hour to those who wake he knows
each door of every street which ones are shut which stand ajar and whom to call when
something burns
"""
WORDS = TEXT.split()
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Page {number}</title>
<meta name="description" content="{described}">
</head>
<body>
<header id="top"><h1>Page {number}</h1></header>
<nav><ul>
{menu}
</ul></nav>
<main>
{text}
</main>
<footer id="bottom"><p>{described}</p></footer>
</body>
</html>
"""


class Site(Struct, frozen=True):
    """How many pages, how many links on each to others of them, how long a text."""

    name: str
    pages: int
    links: int
    words: int = 400  # on average: pages of 2 to 4.5 kB
    away: int = 0  # links on each page to other sites, no two the same

    def write(self, folder: Path, away: Sequence[str] = ()) -> None:
        """Write all pages below a folder; `away` are the links to other sites."""
        chance = random.Random(self.name)
        folder.mkdir(parents=True)
        for number in range(0, self.pages, IN_A_FOLDER):
            (folder / str(number // IN_A_FOLDER)).mkdir()
        for number in range(self.pages):
            own = [_link(number, other) for other in self._linked(number, chance)]
            others = away[number * self.away : (number + 1) * self.away]
            text = _page(number, [*own, *others], self.words, chance)
            (folder / _file(number)).write_text(text)

    def paths(self) -> Iterator[str]:
        """The path of every page."""
        yield "/"
        for number in range(1, self.pages):
            yield f"/{_file(number)}"

    def _linked(self, number: int, chance: random.Random) -> list[int]:
        first = CHILDREN * number + 1
        found = set(range(first, min(first + CHILDREN, self.pages)))
        while len(found) < self.links:
            found.add(int(chance.random() * self.pages))
            found.discard(number)
        # A set of numbers has an order of its own, the same in every run.
        return list(found)


PAGES = Site("pages", pages=5001, links=20)
MIXED = Site("mixed", pages=2000, links=15, away=5)
LARGE = Site("large", pages=100_000, links=50, words=150)
SITES = (PAGES, MIXED, LARGE)


def _file(number: int) -> str:
    if number == 0:
        return "index.html"
    return f"{number // IN_A_FOLDER}/page-{number}.html"


def _link(page: int, other: int) -> str:
    """A path as it may stand on a page: from the root, or from where the page is."""
    if other == 0:
        return "/"
    if page == 0:
        return _file(other)
    return f"{'/' if other % 2 else '../'}{_file(other)}"


def _page(number: int, links: list[str], words: int, chance: random.Random) -> str:
    # Half as long to one and a half times as long, as pages differ.
    count = int(words * (0.5 + chance.random()))
    start = int(chance.random() * len(WORDS))
    text = (WORDS * (count // len(WORDS) + 2))[start : start + count]
    menu, prose = links[:5], links[5:]
    return PAGE.format(
        number=number,
        described=" ".join(text[:12]),
        menu="\n".join(f'<li><a href="{link}">{link}</a></li>' for link in menu),
        text="\n".join(_paragraphs(text, prose)),
    )


def _paragraphs(words: list[str], links: list[str]) -> Iterator[str]:
    """The text, cut where its links stand: three in a paragraph."""
    rest = iter(words)
    between = max(1, len(words) // max(1, len(links)))
    for at in range(0, len(links), 3):
        parts = (
            f'{" ".join(islice(rest, between))} <a href="{link}">the hour</a>'
            for link in links[at : at + 3]
        )
        yield f"<p>{', '.join(parts)}.</p>"
