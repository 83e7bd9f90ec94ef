"""A web is made from its traits, and is always the same."""

from hypothesis import given
from hypothesis import strategies as st

from ronda import urls
from ronda.model import Request
from ronda.simulation.chance import Chance
from ronda.simulation.fates import Fates
from ronda.simulation.homes import Homes, Kind
from ronda.simulation.listing import listing
from ronda.simulation.share import shared_hosts
from ronda.simulation.traits import Traits, sizes

numbers = st.integers(0, 2**64)
webs = st.builds(
    Traits,
    seed=numbers,
    hosts=st.integers(1, 50),
    servers=st.integers(1, 50),
    urls=st.integers(1, 500),
    skew=st.floats(0, 3),
)


@given(numbers, st.text())
def test_the_same_seed_and_name_draw_the_same_numbers(seed: int, name: str) -> None:
    first, second = Chance(seed)(name), Chance(seed)(name)

    assert [first.share(), first.bell(), first.below(7)] == [
        second.share(),
        second.bell(),
        second.below(7),
    ]


@given(webs)
def test_hosts_have_all_urls_between_them_the_first_the_most(web: Traits) -> None:
    counts = sizes(web)

    assert sum(counts) == web.urls
    assert min(counts) >= 0
    assert max(counts) <= counts[0] + 1  # but for rounding


@given(webs, st.integers(1, 4))
def test_shares_name_every_url_once_and_keep_servers_together(
    web: Traits, parts: int
) -> None:
    shares = [shared_hosts(web, part, parts) for part in range(parts)]

    found = [url for hosts in shares for url in listing(web, hosts)]

    assert len(found) == len(set(found)) == web.urls
    homes = Homes(web, Chance(web.seed))
    servers = [
        {homes.addresses(homes[f"h{host}.example"]) for host in hosts}
        for hosts in shares
    ]
    assert sum(map(len, servers)) == len(set.union(*servers))


def test_a_list_is_in_the_one_spelling_of_urls() -> None:
    web = Traits(hosts=20, urls=100)

    found = list(listing(web, range(20)))

    assert [urls.normalise(url) for url in found] == found


def test_a_large_web_has_every_kind_of_host_and_of_answer() -> None:
    web = Traits(seed=1, hosts=4000, urls=4000, skew=0, errors=0.5, redirects=0.1)
    chance = Chance(web.seed)
    homes, fates = Homes(web, chance), Fates(web, chance, range(web.hosts))

    kinds = {homes[f"h{number}.example"].kind for number in range(web.hosts)}
    answers = [
        fates.of(Request(url), homes[urls.host(url)], 1000.0).answer
        for url in listing(web, range(web.hosts))
    ]

    assert kinds == set(Kind)
    assert {one.error for one in answers} == {0, 7, 28, 56}
    wanted = {200, 301, 302, 403, 404, 405, 429, 500, 502, 503}
    assert {one.status for one in answers} == wanted | {0}


def test_restless_hosts_move() -> None:
    web = Traits(seed=1, hosts=1, servers=1000, restless=1.0)
    homes = Homes(web, Chance(web.seed))
    home = homes["h0.example"]

    assert len({homes.addresses(home) for _ in range(10)}) == 10
