"""Whose turn it is within a host."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda.errors import SettingsError
from ronda.frontier.priority import Priorities, is_asset

URL = "https://docs.example.org/guide/page.html?a=1"
depths = st.integers(0, 1000)


class TestTheOrder:
    @given(depths, depths)
    def test_near_pages_come_first_and_pages_before_assets(
        self, one: int, other: int
    ) -> None:
        rank = Priorities(()).rank
        nearer = (one, False) < (other, True)

        assert (rank(URL, one, False) < rank(URL, other, True)) == nearer

    @given(depths, st.booleans(), st.integers(-1000, 1000))
    def test_a_bonus_is_as_many_steps_nearer(
        self, depth: int, asset: bool, bonus: int
    ) -> None:
        ranked = Priorities([f"docs.example.org={bonus:+}"]).rank(URL, depth, asset)

        assert ranked == Priorities(()).rank(URL, depth - bonus, asset)

    def test_all_patterns_that_match_add_up(self) -> None:
        rows = ["docs.example.org=+5", "*/guide/*=-2", r"re:\.html=+1", "x.test=+9"]

        assert Priorities(rows).rank(URL, 10, asset=False) == 2 * (10 - 5 + 2 - 1)

    def test_a_pattern_may_hold_an_equals_sign_itself(self) -> None:
        assert Priorities(["*?a=1=+3"]).rank(URL, 3, asset=True) == 1


class TestBadRows:
    @pytest.mark.parametrize(
        "row",
        ["", "docs", "docs=", "docs=3", "docs=+", "=+3", "docs=+1001", "docs=+3 "],
    )
    def test_they_are_one_clear_line(self, row: str) -> None:
        with pytest.raises(SettingsError) as caught:
            Priorities([row])

        words = "write it as PATTERN=+n or PATTERN=-n, n up to 1000"
        assert str(caught.value) == f"crawl.priority: '{row}'; {words}"

    def test_a_bad_regular_expression_is_named_with_its_key(self) -> None:
        with pytest.raises(
            SettingsError, match=r"^crawl.priority: 're:\(' is not a re"
        ):
            Priorities(["re:(=+1"])


class TestAssets:
    @pytest.mark.parametrize("tag", ["img", "script", "source", "css", "object", "use"])
    def test_what_a_page_is_made_of_is_an_asset(self, tag: str) -> None:
        assert is_asset(tag, "")

    @pytest.mark.parametrize(
        "tag", ["a", "area", "iframe", "frame", "form", "meta", ""]
    )
    def test_what_it_leads_to_is_not(self, tag: str) -> None:
        assert not is_asset(tag, "")

    @pytest.mark.parametrize("rel", ["canonical", "Next", "nofollow prev", "alternate"])
    def test_a_link_element_can_lead_to_a_page(self, rel: str) -> None:
        assert not is_asset("link", rel)

    @pytest.mark.parametrize(
        "rel", ["", "stylesheet", "Alternate Stylesheet", "shortcut icon", "preload"]
    )
    def test_else_it_names_an_asset(self, rel: str) -> None:
        assert is_asset("link", rel)
