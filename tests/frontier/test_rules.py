"""The index of rules against a slow, obvious version of it."""

import re
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.frontier.rules import FEW, Index, Rule, heavier, weight


def rules_of(lines: list[tuple[bool, str]]) -> list[Rule]:
    return [
        Rule(allow, path, line, weight=weight(len(path), allow, line))
        for line, (allow, path) in enumerate(lines, 1)
    ]


def obvious(rules: list[Rule], path: str) -> Rule | None:
    """All are tried; the longest decides, allow on a tie, then the first."""
    found = [rule for rule in rules if _matches(rule.path, path)]
    return max(
        found, key=lambda rule: (len(rule.path), rule.allow, -rule.line), default=None
    )


def _matches(rule: str, path: str) -> bool:
    body = rule.removesuffix("$")
    end = r"\Z" if body != rule else ""
    parts = map(re.escape, body.split("*"))
    return bool(_compiled(".*".join(parts) + end).match(path))


_compiled = cache(re.compile)

# Few letters, so that rules meet, nest and nearly match.
LINES = st.lists(
    st.tuples(st.booleans(), st.text("/ab*$?", min_size=1, max_size=7)), max_size=12
)


@given(LINES, st.lists(st.text("/ab", max_size=8), min_size=1, max_size=5))
def test_the_index_finds_what_trying_all_rules_finds(
    lines: list[tuple[bool, str]], asked: list[str]
) -> None:
    rules = rules_of(lines)
    index = Index(rules)

    for path in asked:
        assert index.find(f"/{path}") == obvious(rules, f"/{path}")


# So many that pieces are looked for together. The parts are of all lengths.
MANY = [
    (number % 3 == 0, f"/*{end}{number:0{digits}}{tail}")
    for end in ("", "ab", "x*y")
    for tail in ("", "$", "*z", "-some-longer-text")
    for digits in (1, 2, 3, 5)
    for number in range(0, FEW * 4, 3)
]
LETTERS = [(False, f"/*{a}{b}*") for a in "abcdefghij" for b in "abcdefghij"]
MANY_RULES = rules_of(MANY)
MANY_INDEX = Index(MANY_RULES)


@given(st.integers(0, len(MANY)), LINES, st.text("/abxyz012345-$", max_size=12))
def test_so_it_does_among_many_rules_with_stars(
    first: int, more: list[tuple[bool, str]], path: str
) -> None:
    rules = rules_of([*MANY[first : first + 300], *more, *LETTERS])

    assert Index(rules).find(f"/{path}") == obvious(rules, f"/{path}")


@given(st.sampled_from(MANY), st.text("/abxyz012", max_size=5))
def test_every_rule_with_stars_is_found_where_it_matches(
    one: tuple[bool, str], filling: str
) -> None:
    path = one[1].removesuffix("$").replace("*", filling)

    found = MANY_INDEX.find(path)
    assert found is not None
    assert found == obvious(MANY_RULES, path)


@pytest.mark.parametrize("path", ["", "/", "/a", "/ab", "/\U0010ffff", "0", "~"])
def test_what_begins_with_nothing_covers_all(path: str) -> None:
    [rule] = rules = rules_of([(False, "*")])

    assert Index(rules).find(path) is rule


def test_no_rules_decide_nothing() -> None:
    assert Index([]).find("/a") is None


def test_the_same_rule_twice_is_told_by_its_first_line() -> None:
    first, second, star = rules_of([(False, "/a"), (False, "/a"), (False, "*b")])

    assert Index([second, first, star]).find("/ab") is first


def test_of_two_rules_one_decides_and_a_rule_against_none() -> None:
    light, heavy = rules_of([(False, "/a"), (True, "/a")])

    assert heavier(light, heavy) is heavier(heavy, light) is heavy
    assert heavier(light, None) is heavier(None, light) is light
    assert heavier(None, None) is None
