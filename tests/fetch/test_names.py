"""Names against a real name server."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from fakes import FakeClock
from ronda.config import Guard as GuardSettings
from ronda.fetch import names as module
from ronda.fetch.guard import Guard
from ronda.fetch.names import LONGEST, NEGATIVE, SHORTEST, Address
from ronda.fetch.names import Names as Resolver
from ronda.model import GUARDED, Answer
from ronda.probes.faults import fault
from servers.names import Names

SECONDS = 30.0  # guards against hanging; nothing takes as long
T = TypeVar("T")


class Counting(Resolver):
    """Counts how often the name server is asked for an address."""

    asked = 0

    async def _ask(self, name: str) -> Address:
        self.asked += 1
        return await super()._ask(name)


def resolved(
    names: Names,
    story: Callable[[Counting], Awaitable[T]],
    clock: FakeClock | None = None,
    allow: tuple[str, ...] = (),
) -> T:
    guard = Guard(GuardSettings(allow=allow))

    async def run() -> T:
        resolver = Counting((names.server,), guard, clock or FakeClock())
        async with resolver, asyncio.timeout(SECONDS):
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


class TestForHowLongItHolds:
    @pytest.mark.parametrize(
        ("name", "seconds"),
        [
            ("lasting.ronda.test", 300),
            ("brief-alias.ronda.test", 20),  # the alias's own
            ("h1.ronda.test", SHORTEST),  # 0 is no time to ask in
            ("ages.ronda.test", LONGEST),
        ],
    )
    def test_an_answer_holds_as_long_as_it_says(
        self, names: Names, name: str, seconds: float
    ) -> None:
        found = resolved(names, lambda r: r.find(name), FakeClock(1000.0))

        assert found.until == 1000.0 + seconds

    def test_no_such_name_holds_a_while_too(self, names: Names) -> None:
        clock = FakeClock(1000.0)
        found = resolved(names, lambda r: r.find("nowhere.ronda.test"), clock)

        assert found.until == 1000.0 + NEGATIVE

    @pytest.mark.parametrize(
        ("name", "seconds"),
        [("h1.ronda.test", SHORTEST), ("nowhere.ronda.test", NEGATIVE)],
    )
    def test_a_name_is_asked_for_once_in_that_time(
        self, names: Names, name: str, seconds: float
    ) -> None:
        clock = FakeClock()

        async def story(resolver: Counting) -> list[int]:
            counts = []
            for step in (0.0, seconds - 1, 1.0, 0.0):
                clock.advance(step)
                await resolver.find(name)
                counts.append(resolver.asked)
            return counts

        assert resolved(names, story, clock) == [1, 1, 2, 2]

    def test_a_failing_server_is_asked_again_at_once(self, names: Names) -> None:
        async def story(resolver: Counting) -> int:
            for _ in range(3):
                await resolver.find("broken.ronda.test")
            return resolver.asked

        assert resolved(names, story) == 3

    def test_what_is_wanted_twice_at_the_same_time_is_asked_for_once(
        self, names: Names
    ) -> None:
        async def story(resolver: Counting) -> tuple[int, set[str]]:
            wanted = [resolver.find("h3.ronda.test") for _ in range(5)]
            found = {one.address for one in await asyncio.gather(*wanted)}
            return resolver.asked, found

        assert resolved(names, story) == (1, {"127.0.0.3"})

    def test_who_gives_up_leaves_the_answer_to_the_others(self, names: Names) -> None:
        async def story(resolver: Counting) -> tuple[str, int]:
            hasty = asyncio.ensure_future(resolver.find("h3.ronda.test"))
            patient = asyncio.ensure_future(resolver.find("h3.ronda.test"))
            await asyncio.sleep(0)  # both have begun
            hasty.cancel()
            return (await patient).address, resolver.asked

        assert resolved(names, story) == ("127.0.0.3", 1)

    def test_the_end_does_not_wait_for_a_silent_server(self, names: Names) -> None:
        async def story(resolver: Counting) -> bool:
            task = asyncio.ensure_future(resolver.find("silent.ronda.test"))
            await asyncio.sleep(0)  # it has begun
            return task.cancel()

        assert resolved(names, story)  # `SECONDS` guards it

    def test_a_new_answer_takes_the_place_of_the_old_one(self, names: Names) -> None:
        names.move("moving.ronda.test", "127.0.0.11")
        clock = FakeClock()

        async def story(resolver: Counting) -> list[str]:
            first = await resolver.find("moving.ronda.test")
            names.move("moving.ronda.test", "127.0.0.12")
            second = await resolver.find("moving.ronda.test")
            clock.advance(SHORTEST)
            old = resolver.known("moving.ronda.test")
            third = await resolver.find("moving.ronda.test")
            new = resolver.known("moving.ronda.test")
            return [one.address for one in (first, second, old, third, new)]

        one, two = "127.0.0.11", "127.0.0.12"
        assert resolved(names, story, clock) == [one, one, one, two, two]

    def test_the_next_address_holds_no_longer_than_the_first(
        self, names: Names
    ) -> None:
        async def story(resolver: Counting) -> tuple[set[str], str, float]:
            first = await resolver.find("lasting.ronda.test")
            following = resolver.next_address("lasting.ronda.test")
            last = resolver.next_address("lasting.ronda.test")
            until = resolver.known("lasting.ronda.test").until - first.until
            return {first.address, following}, last, until

        assert resolved(names, story) == ({"127.0.0.6", "::1"}, "", 0.0)


class TestRebinding:
    """A name that is public first and private later is caught.

    The public addresses here are only resolved, never dialled.
    """

    PUBLIC, PRIVATE = "93.184.216.34", "10.0.0.1"

    def story(self, names: Names, name: str, clock: FakeClock, *then: str) -> object:
        async def story(resolver: Counting) -> Address:
            await resolver.find(name)
            for address in then:
                names.move(name, address)
                clock.advance(SHORTEST)
                found = await resolver.find(name)
            return found

        return story

    def test_a_public_name_does_not_become_private(self, names: Names) -> None:
        names.move("rebound.ronda.test", self.PUBLIC)
        clock = FakeClock()
        story = self.story(names, "rebound.ronda.test", clock, self.PRIVATE)
        found = resolved(names, story, clock)  # type: ignore[arg-type]

        assert found.address == ""
        assert found.failure == Answer(
            error=GUARDED,
            error_text="rebound.ronda.test was public and is now at 10.0.0.1",
        )
        assert fault(found.failure).reason == "address_refused"

    def test_it_is_had_again_when_it_is_public_again(self, names: Names) -> None:
        names.move("back.ronda.test", self.PUBLIC)
        clock = FakeClock()
        story = self.story(names, "back.ronda.test", clock, "127.0.0.1", self.PUBLIC)
        found = resolved(names, story, clock)  # type: ignore[arg-type]

        assert (found.address, found.failure) == (self.PUBLIC, None)

    def test_a_private_name_may_stay_and_may_become_public(self, names: Names) -> None:
        names.move("open.ronda.test", self.PRIVATE)
        clock = FakeClock()
        story = self.story(names, "open.ronda.test", clock, "10.0.0.2", self.PUBLIC)
        found = resolved(names, story, clock)  # type: ignore[arg-type]

        assert (found.address, found.failure) == (self.PUBLIC, None)

    def test_of_a_mixed_answer_only_the_public_addresses_are_kept(
        self, names: Names
    ) -> None:
        for address in ("127.0.0.1", self.PUBLIC, "169.254.169.254", "::1"):
            names.add("mixed.ronda.test", address)
        found = resolved(names, lambda r: r.find("mixed.ronda.test"))

        assert (found.address, found.others) == (self.PUBLIC, ())

    def test_what_the_operator_allows_is_as_good_as_public(self, names: Names) -> None:
        names.move("allowed.ronda.test", self.PUBLIC)
        clock = FakeClock()
        story = self.story(names, "allowed.ronda.test", clock, self.PRIVATE)
        found = resolved(names, story, clock, ("10.0.0.0/8",))  # type: ignore[arg-type]

        assert (found.address, found.failure) == (self.PRIVATE, None)


class Made(Resolver):
    """Answers by itself, each time for a minute."""

    address = "127.0.0.1"

    async def _ask(self, name: str) -> Address:
        return self._judge(name, [self.address], 0.0, self._now() + 60.0)


class TestWhatIsForgotten:
    """A daemon meets names without end."""

    def met(self, names: Made, clock: FakeClock, count: int, hours: int) -> None:
        async def story() -> None:
            for hour in range(hours):
                for number in range(count):
                    await names.find(f"h{number}.{hour}.test")
                clock.advance(3600.0)

        asyncio.run(story())

    def test_old_answers_are(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "MANY", 50)
        clock = FakeClock()
        names = Made((), Guard(GuardSettings()), clock)
        names._tidy_at = 50
        self.met(names, clock, 40, 24)

        assert len(names._known) <= 4 * 40
        assert names.known("h39.23.test").address == "127.0.0.1"
        assert names.known("h39.0.test").address == ""

    def test_answers_that_hold_are_not_however_many(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "MANY", 50)
        clock = FakeClock()
        names = Made((), Guard(GuardSettings()), clock)
        names._tidy_at = 50
        self.met(names, clock, 500, 1)

        assert len(names._known) == 500

    def test_of_names_that_were_public_the_latest_are_remembered(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "MOST_PUBLIC", 3)
        clock = FakeClock()
        names = Made((), Guard(GuardSettings()), clock)
        names.address = TestRebinding.PUBLIC
        self.met(names, clock, 5, 1)

        assert list(names._public) == ["h2.0.test", "h3.0.test", "h4.0.test"]
