"""Whose machine it is decides how fast it may be asked."""

import pytest

from ronda.config import Politeness
from ronda.frontier import Limits, Policy
from ronda.frontier.politeness import is_own, literal_address


@pytest.mark.parametrize(
    "address", ["127.0.0.9", "10.1.2.3", "192.168.0.1", "::1", "fd00::1"]
)
def test_own_machines_have_no_gap(address: str) -> None:
    assert is_own("a.example", address)
    assert Policy(Politeness()).limits("a.example", address) == Limits()


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800::1"])
def test_strangers_are_asked_with_care(address: str) -> None:
    limits = Policy(Politeness()).limits("a.example", address)

    assert limits.interval > 0
    assert limits.per_host < 10


def test_what_the_operator_sets_holds_for_his_own_machines_too() -> None:
    policy = Policy(Politeness(interval=3.0, per_server=1))

    assert policy.limits("127.0.0.1", "127.0.0.1") == Limits(interval=3.0, per_server=1)
    assert policy.limits("a.example", "93.184.216.34").interval == 3.0


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("a.example", ""),
        ("x1", ""),
        ("", ""),
    ],
)
def test_a_host_may_spell_out_its_address(host: str, address: str) -> None:
    assert literal_address(host) == address


@pytest.mark.parametrize("host", ["", "mx:", "no-such-name.invalid"])
def test_our_own_disk_and_name_servers_and_nobody_are_not_strangers(host: str) -> None:
    assert Policy(Politeness()).limits(host, "") == Limits()


def test_a_plug_ins_class_is_asked_with_care() -> None:
    assert Policy(Politeness()).limits("class:isbn", "").interval > 0
