"""Names against a real name server."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ronda.fetch.names import Names as Resolver
from ronda.model import Answer
from ronda.probes.faults import fault
from servers.names import Names

SECONDS = 30.0  # guards against hanging; nothing takes as long
T = TypeVar("T")


def resolved(names: Names, story: Callable[[Resolver], Awaitable[T]]) -> T:
    async def run() -> T:
        async with Resolver((names.server,)) as resolver, asyncio.timeout(SECONDS):
            return await story(resolver)

    return asyncio.run(run())


def mail(names: Names, domain: str) -> Answer:
    return resolved(names, lambda resolver: resolver.mail_servers(domain))


def test_a_name_has_its_address(names: Names) -> None:
    found = resolved(names, lambda r: r.find("h7.ronda.test"))

    assert (found.address, found.failure) == ("127.0.0.7", None)


def test_an_alias_has_the_address_of_what_it_stands_for(names: Names) -> None:
    assert resolved(names, lambda r: r.find("alias.ronda.test")).address == "127.0.0.1"


def test_a_name_may_have_only_a_long_address(names: Names) -> None:
    assert resolved(names, lambda r: r.find("six.ronda.test")).address == "::1"


def test_one_of_several_addresses_is_taken(names: Names) -> None:
    found = resolved(names, lambda r: r.find("two.ronda.test"))

    assert found.address in {"127.0.0.4", "127.0.0.5"}


def test_a_missing_name_is_told_from_a_failing_server(names: Names) -> None:
    missing = resolved(names, lambda r: r.find("nowhere.ronda.test")).failure
    empty = resolved(names, lambda r: r.find("no-address.ronda.test")).failure
    broken = resolved(names, lambda r: r.find("broken.ronda.test")).failure

    assert missing is not None
    assert empty is not None
    assert broken is not None
    assert fault(missing).reason == "dns_no_such_name"
    assert fault(empty).reason == "dns_no_such_name"
    assert fault(broken).reason == "dns_failed"


def test_a_name_is_asked_for_once(names: Names) -> None:
    names.add("once.ronda.test", "127.0.0.11")

    async def story(resolver: Resolver) -> tuple[str, str, str]:
        first = await resolver.find("once.ronda.test")
        # A server that is gone cannot be asked a second time.
        resolver._made.nameservers = ["127.0.0.1:1"]  # type: ignore[union-attr]
        second = await resolver.find("once.ronda.test")
        return first.address, second.address, resolver.known("once.ronda.test").address

    assert resolved(names, story) == ("127.0.0.11",) * 3


def test_what_was_never_asked_for_is_not_known(names: Names) -> None:
    async def story(resolver: Resolver) -> str:
        return resolver.known("h1.ronda.test").address

    assert resolved(names, story) == ""


def test_many_names_are_found_at_once(names: Names) -> None:
    async def story(resolver: Resolver) -> list[str]:
        wanted = [resolver.find(f"h{n}.ronda.test") for n in range(1, 21)]
        return [found.address for found in await asyncio.gather(*wanted)]

    assert resolved(names, story) == [f"127.0.0.{n}" for n in range(1, 21)]


def test_mail_servers_come_best_first(names: Names) -> None:
    answer = mail(names, "mail.ronda.test")

    assert answer.names == ("h1.ronda.test", "h2.ronda.test")
    assert answer.timings.total > 0


def test_a_domain_may_refuse_all_mail(names: Names) -> None:
    assert mail(names, "null-mx.ronda.test").names == (".",)


def test_a_domain_without_mail_servers_has_its_own_address(names: Names) -> None:
    answer = mail(names, "no-mx.ronda.test")

    assert (answer.names, answer.address, answer.error) == ((), "127.0.0.1", 0)


def test_a_domain_may_have_neither(names: Names) -> None:
    answer = mail(names, "no-address.ronda.test")

    assert (answer.names, answer.address, answer.error) == ((), "", 0)


def test_a_domain_that_is_missing_is_told_from_a_failing_server(names: Names) -> None:
    assert fault(mail(names, "nowhere.ronda.test")).reason == "dns_no_such_name"
    assert fault(mail(names, "broken.ronda.test")).reason == "dns_failed"
