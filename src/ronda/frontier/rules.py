"""The rules of a group of robots.txt, indexed: ten thousand cost little more than one.

Three kinds are kept apart. A rule without `*` covers all paths that begin with it; in
the order of the alphabet that is one stretch, and a stretch lies within another or
beside it, so that one search tells which rules cover a path. A rule that ends with `$`
and has no `*` is looked up. Any other is only tried where a piece of its text, the one
that the fewest others share, occurs in the path.
"""

import sys
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain

from msgspec import Struct

PIECE = 4  # characters of a piece, at most
PARTS = 8  # of one rule from which it is chosen
FEW = 40  # pieces of one length that are rather looked for one by one
_SHIFTS = [slice(start, None) for start in range(PIECE)]
_LINES = 20  # bits: more lines than a file has that is read
_END = chr(sys.maxunicode)  # after every rule in the alphabet


class Rule(Struct, frozen=True, gc=False):
    """One allow or disallow line."""

    allow: bool
    path: str  # normalised, `*` and a last `$` still in it
    line: int = 0  # from 1
    text: str = ""  # the path as the file writes it
    agents: tuple[str, ...] = ()  # of its group, as the file writes them
    weight: int = 0  # of two rules that match, the one with the greater decides


def weight(octets: int, allow: bool, line: int) -> int:
    """The longer decides; of two as long, allow; of two alike, the first."""
    return ((octets << 1 | allow) << _LINES) - line


def heavier(one: Rule | None, other: Rule | None) -> Rule | None:
    """Of two rules that match, the one that decides."""
    if one is None or (other is not None and other.weight > one.weight):
        return other
    return one


class Index:
    """Finds the rule that decides on a path."""

    # There may be as many of these as there are hosts.
    __slots__ = (
        *("_by_piece", "_covers", "_few", "_heaviest", "_many", "_starts", "_wholes"),
    )

    def __init__(self, rules: Iterable[Rule]) -> None:
        # By what is matched: a beginning, or the whole path.
        beginnings: dict[str, Rule] = {}
        wholes: dict[str, Rule] = {}
        for rule in rules:
            body, anchored = _body(rule.path)
            table = wholes if anchored else beginnings
            table[body] = heavier(table.get(body), rule) or rule
        patterns = [*_take_patterns(beginnings, False), *_take_patterns(wholes, True)]
        self._wholes = wholes or _NONE
        self._starts, self._covers = _spread(beginnings)
        self._heaviest = max((p.rule.weight for p in patterns), default=-1)
        self._by_piece = _by_piece(patterns) if patterns else _NOWHERE
        by_length = _by_length(self._by_piece)
        self._few = tuple(p for p in self._by_piece if len(by_length[len(p)]) <= FEW)
        self._many = tuple(ps for ps in by_length.values() if len(ps) > FEW)

    def find(self, path: str) -> Rule | None:
        """The heaviest rule that matches a path."""
        best = self._covers[bisect_right(self._starts, path) - 1]
        best = heavier(best, self._wholes.get(path))
        if best is not None and best.weight >= self._heaviest:
            return best
        for piece in self._present(path):
            best = _first_match(self._by_piece[piece], path, best)
        return best

    def _present(self, path: str) -> Iterator[str]:
        """The pieces that occur in a path."""
        yield from (piece for piece in self._few if piece in path)
        for pieces in self._many:
            # The path beside itself, each time one character further on.
            shifted = map(path.__getitem__, _SHIFTS[: len(next(iter(pieces)))])
            yield from map("".join, pieces.intersection(zip(*shifted, strict=False)))


class _Pattern(Struct, frozen=True, gc=False):
    """A rule with stars: the texts between them."""

    rule: Rule
    first: str
    others: tuple[str, ...]
    last: str  # must end the path

    def matches(self, path: str) -> bool:
        """Whether a path falls under the rule.

        Each part is looked for once, from where the one before it ended: a regular
        expression would try all ways to place them, and many stars take for ever.
        """
        if not path.startswith(self.first):
            return False
        end = len(self.first)
        for part in self.others:
            found = path.find(part, end)
            if found < 0:
                return False
            end = found + len(part)
        return len(path) - len(self.last) >= end and path.endswith(self.last)

    def pieces(self) -> tuple[str, ...]:
        """Some texts that occur in every path that matches; at least one."""
        parts = (self.first, *self.others[:PARTS], self.last)
        longest = max(parts, key=len)
        middle = max(0, (len(longest) - PIECE) // 2)
        ends = [part[-PIECE:] for part in parts if part]
        return (longest[:PIECE], longest[middle : middle + PIECE], *ends)


# Most groups have no such rules, and may do without a table each.
_NONE: dict[str, Rule] = {}
_NOWHERE: dict[str, tuple[_Pattern, ...]] = {}


def _body(path: str) -> tuple[str, bool]:
    """What is to be matched, and whether it must be the whole path.

    A star at the end only says what is so anyway, also when a `$` follows it.
    """
    if path.endswith("$") and not path.endswith("*$"):
        return path[:-1], True
    return path.removesuffix("$").rstrip("*"), False


def _spread(
    beginnings: dict[str, Rule],
) -> tuple[tuple[str, ...], tuple[Rule | None, ...]]:
    """Cut the alphabet into stretches: where each starts, and its heaviest rule."""
    everywhere = beginnings.get("")
    starts, covers = [""], [everywhere]
    around = [("", everywhere)]  # the stretches we are in
    for body in (*filter(None, sorted(beginnings)), _END):
        while not body.startswith(around[-1][0]):
            left, _ = around.pop()
            starts.append(left[:-1] + chr(ord(left[-1]) + 1))
            covers.append(around[-1][1])
        # `/a***` may weigh more than the `/ab` within it.
        rule = heavier(around[-1][1], beginnings.get(body))
        around.append((body, rule))
        starts.append(body)
        covers.append(rule)
    return tuple(starts), tuple(covers)


def _take_patterns(rules: dict[str, Rule], anchored: bool) -> Iterator[_Pattern]:
    """Take out the rules that have stars."""
    for body in [body for body in rules if "*" in body]:
        first, *others = body.split("*")
        last = others.pop() if anchored else ""
        yield _Pattern(rules.pop(body), first, tuple(filter(None, others)), last)


def _by_piece(patterns: list[_Pattern]) -> dict[str, tuple[_Pattern, ...]]:
    """Each pattern under the piece that the fewest share, the heaviest first."""
    choices = [pattern.pieces() for pattern in patterns]
    shared = Counter(chain.from_iterable(choices)).__getitem__
    found: defaultdict[str, list[_Pattern]] = defaultdict(list)
    for pattern, pieces in zip(patterns, choices, strict=True):
        found[min(pieces, key=shared)].append(pattern)
    return {piece: tuple(sorted(found[piece], key=_lightness)) for piece in found}


def _lightness(pattern: _Pattern) -> int:
    return -pattern.rule.weight


def _by_length(pieces: Iterable[str]) -> dict[int, set[tuple[str, ...]]]:
    """Pieces as their characters, those of one length together."""
    found: defaultdict[int, set[tuple[str, ...]]] = defaultdict(set)
    for piece in pieces:
        found[len(piece)].add(tuple(piece))
    return found


def _first_match(
    patterns: Iterable[_Pattern], path: str, best: Rule | None
) -> Rule | None:
    """The first that matches, unless the best so far weighs more."""
    for pattern in patterns:
        if best is not None and pattern.rule.weight <= best.weight:
            break
        if pattern.matches(path):
            return pattern.rule
    return best
