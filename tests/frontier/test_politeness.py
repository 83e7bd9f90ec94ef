"""Whose machine it is, and what the rows say, decides how fast it may be asked."""

import re

import pytest

from ronda.config import Politeness
from ronda.errors import SettingsError
from ronda.frontier import Limits, Policy
from ronda.frontier.politeness import (
    CLASS_INTERVAL,
    LATELY,
    NEAR,
    OWN,
    STRANGERS,
    is_own,
)

PUBLIC = "93.184.216.34"
DEFAULT = Politeness()


def interval(
    rows: list[Politeness], host: str = "a.example", address: str = PUBLIC
) -> float:
    return Policy(rows).limits(host, address).interval


class TestWhoseMachine:
    @pytest.mark.parametrize(
        "address",
        ["127.0.0.9", "10.1.2.3", "192.168.0.1", "100.64.0.1", "::1", "fd00::1"],
    )
    def test_own_machines_have_no_gap(self, address: str) -> None:
        assert is_own("a.example", address)
        assert Policy([DEFAULT]).limits("a.example", address) == NEAR
        assert not NEAR.paced

    @pytest.mark.parametrize("address", [PUBLIC, "2606:2800::1"])
    def test_strangers_are_asked_with_care(self, address: str) -> None:
        assert Policy([DEFAULT]).limits("a.example", address) == STRANGERS
        assert STRANGERS.paced

    @pytest.mark.parametrize(
        "address", ["::ffff:10.0.0.1", "2002:a00:1::", "64:ff9b::a00:1"]
    )
    def test_a_private_address_in_another_form_is_still_our_own(
        self, address: str
    ) -> None:
        assert is_own("a.example", address)

    @pytest.mark.parametrize("host", ["", "mx:", "no-such-name.invalid"])
    def test_our_own_disk_and_name_servers_and_nobody_are_not_strangers(
        self, host: str
    ) -> None:
        assert Policy([DEFAULT]).limits(host, "") == OWN

    def test_what_the_operator_sets_holds_for_his_own_machines_too(self) -> None:
        policy = Policy([Politeness(interval=3.0, per_server=1)])

        assert policy.limits("127.0.0.1", "127.0.0.1") == Limits(
            interval=3.0, per_server=1, per_host=NEAR.per_host
        )
        assert policy.limits("a.example", PUBLIC).interval == 3.0

    def test_zero_is_no_gap_and_not_the_default(self) -> None:
        assert interval([Politeness(interval=0.0)]) == 0.0

    def test_hosts_that_are_alike_share_their_limits(self) -> None:
        policy = Policy([DEFAULT])

        assert policy.limits("a.example", PUBLIC) is policy.limits("b.example", PUBLIC)


class TestRows:
    def test_a_later_row_wins(self) -> None:
        rows = [
            Politeness("a.example", interval=1.0),
            Politeness("a.example", interval=2.0),
        ]

        assert interval(rows) == 2.0

    def test_a_later_row_leaves_alone_what_it_does_not_set(self) -> None:
        rows = [
            Politeness("*.example", interval=1.0, per_host=7),
            Politeness("a.example", interval=2.0),
        ]

        limits = Policy(rows).limits("a.example", PUBLIC)
        assert (limits.interval, limits.per_host) == (2.0, 7)
        assert limits.per_server == STRANGERS.per_server

    def test_rows_for_everything_come_first_wherever_they_stand(self) -> None:
        rows = [Politeness("a.example", interval=1.0), Politeness(interval=2.0)]

        assert interval(rows) == 1.0
        assert interval(rows, host="b.example") == 2.0

    def test_of_rows_for_everything_the_later_wins(self) -> None:
        assert interval([Politeness(interval=1.0), Politeness(interval=2.0)]) == 2.0

    def test_no_rows_at_all_leave_the_defaults(self) -> None:
        policy = Policy([])

        assert policy.limits("a.example", PUBLIC) == STRANGERS
        assert policy.longest == STRANGERS.server_interval

    def test_every_key_of_a_row_reaches_the_limits(self) -> None:
        values = {
            "interval": 1.0,
            "per_host": 2,
            "server_interval": 3.0,
            "per_server": 4,
            "factor": 5.0,
            "ceiling": 6.0,
            "crawl_delay_limit": 7.0,
            "max_wait": 8.0,
            "failures_to_rest": 9,
            "rest": 10.0,
        }
        row = Politeness(**values)  # type: ignore[arg-type]
        limits = Policy([row]).limits("a.example", PUBLIC)

        assert {key: getattr(limits, key) for key in values} == values
        assert {*values, "match", "class_interval"} == set(row.__struct_fields__)

    def test_the_longest_gap_at_a_server_is_that_of_any_row(self) -> None:
        rows = [
            Politeness(server_interval=2.0),
            Politeness("a.example", server_interval=9.0),
            Politeness("b.example", interval=99.0),
        ]

        assert Policy(rows).longest == 9.0


class TestMatches:
    @pytest.mark.parametrize(
        ("match", "host", "address"),
        [
            ("*", "a.example", PUBLIC),
            ("*", "mx:a.example", ""),
            ("a.example", "a.example", PUBLIC),
            ("A.Example.", "a.example", PUBLIC),
            ("*.example", "a.example", PUBLIC),
            ("*.example", "b.a.example", PUBLIC),
            ("www*.example", "www12.example", PUBLIC),
            ("*a*", "b.example", PUBLIC),
            ("93.184.216.34", "a.example", PUBLIC),
            ("93.184.216.34", PUBLIC, PUBLIC),
            ("93.184.0.0/16", "a.example", PUBLIC),
            ("2606:2800::/32", "a.example", "2606:2800::1"),
            ("2606:2800:0::1", "a.example", "2606:2800::1"),
            ("class:isbn", "class:isbn", ""),
        ],
    )
    def test_a_row_speaks_for_whom_it_matches(
        self, match: str, host: str, address: str
    ) -> None:
        limits = Policy([Politeness(match, per_host=77)]).limits(host, address)

        assert limits.per_host == 77

    @pytest.mark.parametrize(
        ("match", "host", "address"),
        [
            ("a.example", "b.example", PUBLIC),
            ("a.example", "www.a.example", PUBLIC),
            ("a.example", "a.example.org", PUBLIC),
            ("a.example", "aXexample", PUBLIC),
            ("*.example", "example", PUBLIC),
            ("93.184.216.35", "a.example", PUBLIC),
            ("10.0.0.0/8", "a.example", PUBLIC),
            ("10.0.0.0/8", "mx:a.example", ""),
            ("::/0", "a.example", PUBLIC),
            ("0.0.0.0/0", "a.example", "2606:2800::1"),
        ],
    )
    def test_and_for_nobody_else(self, match: str, host: str, address: str) -> None:
        limits = Policy([Politeness(match, per_host=77)]).limits(host, address)

        assert limits.per_host != 77

    @pytest.mark.parametrize(
        "match",
        [
            "",
            "a b",
            "a\nb",
            "10.0.0.1/8",
            "10.0.0.0/33",
            "300.1.1.1/8",
            "http://a.example/",
            "2001:db8::/200",
            "10.0.0.0\n/8",
        ],
    )
    def test_what_can_match_nobody_is_a_mistake_told_in_one_line(
        self, match: str
    ) -> None:
        with pytest.raises(SettingsError) as raised:
            Policy([Politeness(match)])

        assert str(raised.value).startswith("politeness.match: '")
        assert str(raised.value).isprintable()


class TestClasses:
    def test_a_plug_ins_class_is_asked_with_care(self) -> None:
        limits = Policy([DEFAULT]).limits("class:isbn", "")

        assert (limits.interval, limits.rule) == (CLASS_INTERVAL, "class-interval")
        assert limits.per_host == STRANGERS.per_host

    def test_its_gap_is_a_setting_of_its_own(self) -> None:
        policy = Policy([Politeness(interval=9.0, class_interval=0.5)])

        assert policy.limits("class:isbn", "").interval == 0.5
        assert policy.limits("a.example", PUBLIC).interval == 9.0

    def test_one_class_may_have_a_row(self) -> None:
        policy = Policy([Politeness("class:isbn", class_interval=30.0)])

        assert policy.limits("class:isbn", "").interval == 30.0
        assert policy.limits("class:doi", "").interval == CLASS_INTERVAL


class TestCrawlDelay:
    def test_it_is_kept_by_its_host_alone(self) -> None:
        policy = Policy([DEFAULT])
        policy.heed("a.example", 5.0)

        limits = policy.limits("a.example", PUBLIC)
        assert (limits.interval, limits.rule) == (5.0, "crawl-delay")
        assert policy.limits("b.example", PUBLIC) == STRANGERS

    def test_one_that_asks_for_less_than_we_keep_changes_nothing(self) -> None:
        policy = Policy([Politeness(interval=5.0)])
        policy.heed("a.example", 2.0)

        limits = policy.limits("a.example", PUBLIC)
        assert (limits.interval, limits.rule) == (5.0, "interval")

    @pytest.mark.parametrize(
        ("row", "kept"),
        [
            (DEFAULT, 300.0),
            (Politeness(crawl_delay_limit=10.0), 10.0),
            (Politeness(crawl_delay_limit=0.0), STRANGERS.interval),
            (Politeness("*.example", crawl_delay_limit=20.0), 20.0),
        ],
    )
    def test_a_long_one_is_cut(self, row: Politeness, kept: float) -> None:
        policy = Policy([row])
        policy.heed("a.example", 86_400.0)

        assert policy.limits("a.example", PUBLIC).interval == kept

    def test_our_own_machines_may_ask_for_one_too(self) -> None:
        policy = Policy([DEFAULT])
        policy.heed("a.example", 1.0)

        assert policy.limits("a.example", "127.0.0.1").interval == 1.0

    def test_the_newest_is_kept(self) -> None:
        policy = Policy([DEFAULT])
        policy.heed("a.example", 5.0)
        policy.heed("a.example", 2.0)

        assert policy.limits("a.example", PUBLIC).interval == 2.0

    def test_of_hosts_that_no_longer_ask_for_one_nothing_is_left(self) -> None:
        policy = Policy([DEFAULT])
        for number in range(LATELY + 1):
            host = f"{number}.example"
            policy.heed(host, 1.0 + number / 100)
            policy.limits(host, PUBLIC)
            policy.heed(host, 0.0)
            assert policy.limits(host, PUBLIC) == STRANGERS

        assert policy._delays == {}
        assert len(policy._made) <= LATELY


class TestWrongMatches:
    @pytest.mark.parametrize(
        ("match", "words"),
        [
            ("127.0.0.1:8101", "without its port"),
            ("example.org:8080", "without its port"),
            ("https://example.org/", "write the host alone"),
            ("10.1.0.1/16", "write 10.1.0.0/16"),
            ("300.1.1.1", "no host"),
            ("a b", "no host"),
        ],
    )
    def test_what_can_match_nobody_is_refused_with_advice(
        self, match: str, words: str
    ) -> None:
        with pytest.raises(SettingsError, match=re.escape(words)):
            Policy([Politeness(match=match)])

    def test_a_name_in_letters_of_its_own_is_known_by_its_punycode(self) -> None:
        policy = Policy([Politeness(match="*.münchen.example", interval=7.0)])

        limits = policy.limits("www.xn--mnchen-3ya.example", "93.184.216.34")
        assert limits.interval == 7.0
