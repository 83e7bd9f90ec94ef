import pytest

from ronda.cli.report.sections import LONG, SHORT, Limits, sections
from ronda.model import Hop, Place, Result, Site, Slow, State
from ronda.store import Spool


def result(url="https://a.example/x", state=State.BROKEN, **more):
    facts = {"verdict": state, "reason": "r", "message": "404 Not Found"}
    return Result(url=url, **(facts | more))


def on(*documents):
    return tuple(Place(document, 1) for document in documents)


def moved(*statuses, **more):
    hops = tuple(Hop(f"http://a/{n}", s, f"http://a/{n + 1}")
                 for n, s in enumerate(statuses))  # fmt: skip
    return result(state=State.OK, hops=hops, **more)


def only(results=(), site=None, limits=SHORT):
    """The groups of the one section there is, and how many are left out."""
    (section,) = sections(results, site or Site(), limits)
    return list(section.groups), section.more


def titles(results, site):
    return [section.title for section in sections(results, site)]


def test_a_site_with_nothing_to_tell_has_no_section():
    fine = result(state=State.OK, found_in=on("a", "b"))

    assert titles([], Site()) == []
    assert titles([fine], Site(pages=9, bytes=9, beyond={"depth": 0})) == []


def test_sections_come_in_one_order(crawled):
    results, summary = crawled

    assert titles(results, summary.site) == [
        "Where broken links stand",
        "Redirect chains",
        "Orphans: in a sitemap, but linked from no page",
        "Slowest pages",
        "Pages with the same content",
        "Links that were not followed, by rule",
    ]


# -- where broken links stand ------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "told"),
    [(state, state in (State.BROKEN, State.TEMPORARY)) for state in State],
)
def test_only_what_is_or_may_be_dead_is_told_of(state, told):
    found = titles([result(state=state, found_in=on("a", "b"))], Site())

    assert bool(found) is told


@pytest.mark.parametrize("documents", [(), ("a",), ("a", "a"), ("a", "", "-")])
def test_a_link_on_one_page_is_told_of_there_alone(documents):
    assert titles([result(found_in=on(*documents))], Site()) == []


def test_a_broken_link_names_its_pages_up_to_a_limit():
    names = [f"p{n:02}" for n in range(12)]
    ((group,), _) = only([result(found_in=on(*names))])

    assert [item.text for item in group.items] == names[:10]
    assert group.more == 2
    assert group.head.note == "404 Not Found, on 12 pages"


def test_broken_links_go_by_url_and_none_is_left_out():
    urls = [f"https://a.example/{n:03}" for n in range(200)]
    groups, more = only([result(url, found_in=on("a", "b")) for url in urls[::-1]])

    assert [group.head.text for group in groups] == urls
    assert more == 0


# -- redirect chains ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("statuses", "told"),
    [
        ((), False),
        ((302,), False),
        ((307,), False),
        ((301,), True),
        ((308,), True),
        ((302, 302), True),
        ((302, 301, 307), True),
    ],
)
def test_a_chain_is_long_or_for_good(statuses, told):
    assert bool(titles([moved(*statuses)], Site())) is told


def test_a_chain_names_every_hop_and_what_came_last():
    chain = moved(301, 302, status=404, found_in=on("a"))
    ((group,), _) = only([chain])

    steps = [(item.label, item.text, item.note) for item in group.items]
    assert steps == [("301", "http://a/1", ""), ("302", "http://a/2", "404")]
    assert group.head.note == "on 1 page"


def test_a_chain_from_the_command_line_stands_on_no_page():
    ((group,), _) = only([moved(301, found_in=on(""))])

    assert group.head.note == group.items[-1].note == ""


def test_chains_beyond_the_limit_are_counted():
    urls = [f"https://a.example/{n:02}" for n in range(23)]
    groups, more = only([moved(301, url=url) for url in urls[::-1]])

    assert [group.head.text for group in groups] == urls[:20]
    assert more == 3


# -- what the site says itself -----------------------------------------------------


def test_orphans_beyond_the_limit_are_counted():
    orphans = tuple(f"https://a.example/{n:03}" for n in range(120))
    ((short,), _), ((long,), _) = (
        only(site=Site(orphans=orphans), limits=limits) for limits in (SHORT, LONG)
    )

    assert [item.text for item in short.items] == [*orphans[:20]]
    assert (short.more, long.more) == (100, 20)


def test_a_quick_page_is_among_the_slowest_only_when_all_is_wanted():
    site = Site(slowest=(Slow("a", 61), Slow("b", 1), Slow("c", 0.99)))
    ((short,), _), ((long,), _) = (
        only(site=site, limits=limits) for limits in (SHORT, LONG)
    )

    assert [item.label for item in short.items] == ["1 min 1 s", "1.0 s"]
    assert [item.label for item in long.items] == ["1 min 1 s", "1.0 s", "0.99 s"]


def test_a_quick_site_has_no_slowest_pages():
    assert titles([], Site(slowest=(Slow("a", 0.2),))) == []


@pytest.mark.parametrize(("limits", "shown"), [(SHORT, 5), (LONG, 10)])
def test_only_some_of_the_slowest_are_named(limits, shown):
    site = Site(slowest=tuple(Slow(f"{n}", 30 - n) for n in range(20)))
    ((group,), _) = only(site=site, limits=limits)

    assert [item.text for item in group.items] == [f"{n}" for n in range(shown)]


def test_pages_that_are_alike_are_named_up_to_both_limits():
    alike = tuple(f"u{n}" for n in range(7))
    groups, more = only(site=Site(duplicates=(alike,) * 12))

    assert len(groups) == 10
    assert more == 2
    assert [item.text for item in groups[0].items] == ["u0", "u1", "u2", "u3", "u4"]
    assert groups[0].more == 2
    assert groups[0].head.note == "7 pages"


@pytest.mark.parametrize(
    ("rule", "shown", "option"),
    [
        ("depth", "depth", "(--depth)"),
        ("max_pages", "max pages", "(--max-pages)"),
        ("query strings", "query strings", "(--max-queries)"),
        ("trap: a calendar", "trap: a calendar", "(--no-traps)"),
        ("nofollow", "nofollow", "(--ignore-nofollow)"),
        ("content type", "content type", "(--content-type)"),
        ("redirect", "redirect", "(--scope)"),
        ("my_own", "my_own", ""),
    ],
)
def test_a_rule_names_the_option_that_changes_it(rule, shown, option):
    ((group,), _) = only(site=Site(beyond={rule: 1204}))

    (item,) = group.items
    assert (item.label, item.text, item.note) == ("1,204", shown, option)


def test_rules_go_by_how_much_they_kept_out():
    ((group,), _) = only(site=Site(beyond={"b": 1, "nofollow": 9, "a": 1}))

    assert [item.text for item in group.items] == ["nofollow", "a", "b"]


# -- reading results ---------------------------------------------------------------


def test_results_are_read_by_one_section_at_a_time():
    class Once:
        """Results that, as those of a spool, stand one reader at a time."""

        reading = False

        def __iter__(self):
            assert not self.reading
            self.reading = True
            yield from (result(f"u{n}", found_in=on("a", "b")) for n in range(3))
            yield moved(301)
            self.reading = False

    groups = [list(section.groups) for section in sections(Once(), Site())]

    assert [len(group) for group in groups] == [3, 1]


def test_a_spool_can_be_told_of():
    with Spool() as spool:
        for n in range(3):
            spool.note(f"u{n}", Place("a"))
            spool.note(f"u{n}", Place("b"))
            spool.record(result(f"u{n}"))

        groups, _ = only(spool, limits=Limits(pages=1))

    assert [group.head.text for group in groups] == ["u0", "u1", "u2"]
    assert {group.more for group in groups} == {1}
