"""How a verdict is come to, and the evidence for it, through the command line."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Command
from e2e.world import World
from servers.certificates import Certificates
from servers.locations import BIG_BYTES, PAGE
from servers.process import HOST
from servers.rude import Rude


class TestHead:
    @pytest.mark.parametrize(
        ("path", "methods"),
        [
            ("/ok", ["HEAD"]),
            ("/head-hangs", ["HEAD", "GET"]),
            ("/head-empty", ["HEAD", "GET"]),
            ("/head-resets", ["HEAD", "GET"]),
            ("/head-lies-404", ["HEAD", "GET"]),
        ],
    )
    def test_get_is_asked_only_where_head_fails(
        self, world: World, path: str, methods: list[str]
    ) -> None:
        path = world.rude.fresh(path)
        ended = world.ronda.json(
            *world.options,
            "--no-robots",
            "--timeout",
            "0.5",
            urls=[world.rude.url(path)],
        )

        [result] = ended.results.values()
        assert (result["reason"], result["attempts"]) == ("http_200", 1)
        assert world.rude.methods(path) == methods

    def test_the_get_asks_for_the_first_bytes_only(self, world: World) -> None:
        path = world.rude.fresh("/head-lies-404")
        world.ronda.json(*world.options, "--no-robots", urls=[world.rude.url(path)])

        head, get = world.rude.hits[path]
        assert "range" not in head.headers
        assert get.headers["range"] == "bytes=0-1023"

    def test_every_refusal_of_head_is_asked_again(self, world: World) -> None:
        mark = world.nginx.mark()
        refused = [
            world.nginx.url(f"/no-head/{code}")
            for code in (400, 403, 404, 405, 500, 501, 503)
        ]
        ended = world.ronda.json(*world.options, "--no-robots", urls=refused)

        assert {r["reason"] for r in ended.results.values()} == {"http_206"}
        asked = world.nginx.requests(since=mark)
        assert sorted(request.method for request in asked) == ["GET"] * 7 + ["HEAD"] * 7

    @pytest.mark.parametrize("method", ["HEAD", "GET"])
    def test_a_method_that_is_named_is_the_only_one(
        self, world: World, method: str
    ) -> None:
        path = world.rude.fresh("/status/404")
        world.ronda.json(
            *world.options,
            "--no-robots",
            "--method",
            method,
            urls=[world.rude.url(path)],
        )

        assert world.rude.methods(path) == [method]

    def test_a_password_that_is_missing_is_not_asked_for_twice(
        self, world: World
    ) -> None:
        mark = world.nginx.mark()
        ended = world.ronda.json(
            *world.options, "--no-robots", urls=[world.nginx.url("/auth/page.html")]
        )

        [result] = ended.results.values()
        assert (result["verdict"], result["reason"]) == ("blocked", "http_401")
        asked = world.nginx.requests("/auth/page.html", since=mark)
        assert [request.method for request in asked] == ["HEAD"]


class TestRedirects:
    def _result(self, world: World, path: str, *options: str) -> dict[str, Any]:
        url = world.nginx.url(path)
        ended = world.ronda.json(*world.options, "--no-robots", *options, urls=[url])
        return ended.results[url]

    def test_a_permanent_one_warns_and_tells_the_new_address(
        self, world: World
    ) -> None:
        result = self._result(world, "/redirect/308/page.html")

        there = world.nginx.url()
        assert (result["verdict"], result["status"]) == ("warning", 200)
        assert there in result["message"]
        assert result["hops"] == [
            {
                "url": result["url"],
                "status": 308,
                "to": there,
                "address": HOST,
            }
        ]

    @pytest.mark.parametrize("code", [302, 303, 307])
    def test_a_temporary_one_is_well(self, world: World, code: int) -> None:
        result = self._result(world, f"/redirect/{code}/page.html")

        assert (result["verdict"], result["reason"]) == ("ok", "redirected")
        assert [hop["status"] for hop in result["hops"]] == [code]

    def test_every_hop_of_a_chain_is_told_in_order(self, world: World) -> None:
        result = self._result(world, "/chain/1")

        chain = [world.nginx.url(f"/chain/{hop}") for hop in range(1, 6)]
        assert [hop["url"] for hop in result["hops"]] == chain
        assert [hop["to"] for hop in result["hops"]] == [*chain[1:], world.nginx.url()]
        assert result["reason"] == "moved_permanently"
        assert world.nginx.url() in result["message"]

    def test_the_new_address_is_the_end_of_what_is_permanent(
        self, world: World
    ) -> None:
        result = self._result(world, "/chain-mixed/1")

        assert result["reason"] == "moved_permanently"
        assert result["message"].endswith(world.nginx.url("/chain-mixed/2"))

    def test_one_to_an_error_page_is_as_broken_as_that(self, world: World) -> None:
        result = self._result(world, "/redirect-404")

        assert (result["verdict"], result["reason"]) == ("broken", "http_404")
        assert "after 1 redirect" in result["message"]
        assert len(result["hops"]) == 1

    @pytest.mark.parametrize(
        ("path", "options", "hops"),
        [
            ("/self", (), 1),
            ("/loop/a", (), 2),
            ("/chain-long/1", (), 11),
            ("/chain/1", ("--max-redirects", "0"), 1),
        ],
    )
    def test_one_that_leads_nowhere_has_every_hop_as_evidence(
        self, world: World, path: str, options: tuple[str, ...], hops: int
    ) -> None:
        result = self._result(world, path, *options)

        assert result["verdict"] == "broken"
        assert len(result["hops"]) == hops

    def test_as_many_as_are_allowed_are_followed(self, world: World) -> None:
        followed = self._result(world, "/chain/1", "--max-redirects", "5")
        refused = self._result(world, "/chain/1", "--max-redirects", "4")

        assert followed["reason"] == "moved_permanently"
        assert refused["reason"] == "redirect_too_many"

    def test_one_to_another_host_or_scheme_is_followed(self, world: World) -> None:
        elsewhere = self._result(world, "/redirect-host")
        secure = self._result(world, "/redirect-https")

        assert (elsewhere["address"], elsewhere["status"]) == ("127.0.0.2", 200)
        assert secure["certificate"]["names"]

    def test_one_to_a_disallowed_page_is_not_followed(self, world: World) -> None:
        mark = world.nginx.mark()
        url = world.nginx.url("/redirect-private")
        ended = world.ronda.json(*world.options, urls=[url])

        assert ended.results[url]["reason"] == "robots_disallow"
        assert world.nginx.requests("/private/page.html", since=mark) == []


class TestEvidence:
    def test_the_certificate_of_a_secure_page_is_told(
        self, world: World, certificates: Certificates
    ) -> None:
        url = world.nginx.url(port="good")
        ended = world.ronda.json(*world.options, "--no-robots", urls=[url])

        found = ended.results[url]["certificate"]
        ends = certificates["good"].not_after
        assert datetime.fromisoformat(found["ends_at"]) == ends
        assert found["starts_at"] < found["ends_at"]
        assert {"localhost", "ronda.test", "*.ronda.test"} <= set(found["names"])
        assert found["issuer"]
        assert found["issuer"] != found["subject"]

    def test_every_answer_on_a_kept_connection_tells_the_certificate(
        self, world: World
    ) -> None:
        several = [world.nginx.url(f"/empty?{n}", port="good") for n in range(5)]
        ended = world.ronda.json(
            *world.options, "--no-robots", "--per-host", "1", urls=several
        )

        assert all(r["certificate"] for r in ended.results.values())

    def test_a_plain_page_has_no_certificate(self, world: World) -> None:
        url = world.nginx.url()
        ended = world.ronda.json(*world.options, "--no-robots", urls=[url])

        assert ended.results[url]["certificate"] is None

    @pytest.mark.parametrize("port", ["http", "good", "http2"])
    def test_the_times_of_the_phases_follow_each_other(
        self, world: World, port: str
    ) -> None:
        url = world.nginx.url(port=port)
        ended = world.ronda.json(*world.options, "--no-robots", urls=[url])

        timings = ended.results[url]["timings"]
        phases = ["name", "connect", "tls", "first_byte", "total"]
        if port == "http":
            assert timings["tls"] == 0
            phases.remove("tls")
        assert [timings[phase] for phase in phases] == sorted(
            timings[phase] for phase in phases
        )
        assert 0 < timings["connect"] < timings["total"] < 2

    def test_the_address_that_was_dialled_is_told(self, world: World) -> None:
        named = world.nginx.url(host="h7.ronda.test")
        spelt = world.nginx.url(host="127.0.0.9")
        six = world.nginx.url(host="six.ronda.test")
        refused = world.rude.refused_url()
        ended = world.ronda.json(
            *world.options, "--no-robots", urls=[named, spelt, six, refused]
        )

        assert ended.results[named]["address"] == "127.0.0.7"
        assert ended.results[spelt]["address"] == "127.0.0.9"
        assert ended.results[six]["address"] == "::1"
        assert ended.results[refused]["status"] == 0

    def test_a_name_works_if_any_of_its_addresses_does(self, world: World) -> None:
        url = world.rude.url("/ok?both").replace(HOST, "both.ronda.test")
        ended = world.ronda.json(*world.options, "--no-robots", urls=[url])

        assert ended.results[url]["reason"] == "http_200"  # it listens on 127.0.0.1

    def test_the_bytes_that_came_are_counted(self, world: World) -> None:
        page, empty, big = (
            world.nginx.url(path) for path in ("/page.html", "/empty", "/big")
        )
        ended = world.ronda.json(
            *world.options, "--no-robots", "--method", "GET", urls=[page, empty, big]
        )

        assert ended.results[page]["bytes"] == len(PAGE)
        assert ended.results[empty]["bytes"] == 0
        assert ended.results[big]["bytes"] < BIG_BYTES

    def test_every_result_has_every_key(self, world: World) -> None:
        mixed = [
            world.nginx.url(),
            world.nginx.url(port="expired"),
            "mailto:nobody",
            "gopher://ronda.test/",
            world.file("there.txt"),
        ]
        ended = world.ronda.json(*world.options, "--no-robots", urls=mixed)

        keys = {
            *("url", "verdict", "reason", "message", "hops", "status", "address"),
            *("timings", "bytes", "certificate", "found_in", "checked_at", "attempts"),
            *("directives", "depth", "media_type", "digest", "evidence"),
        }
        assert len(ended.results) == len(mixed)
        assert all(set(result) == keys for result in ended.results.values())
        assert all(
            datetime.fromisoformat(r["checked_at"]).tzinfo is not None
            for r in ended.results.values()
        )


class TestRetries:
    @pytest.fixture
    def impatient(self, ronda: Command) -> Command:
        (ronda.folder / "ronda.toml").write_text("[fetch]\nretry_gap = 0.2\n")
        return ronda

    def test_a_flaky_page_is_well_in_the_end_after_growing_gaps(
        self, impatient: Command, rude: Rude
    ) -> None:
        path = rude.fresh("/flaky/2")
        options = ["--no-robots", "--retries", "2", "--method", "GET"]
        ended = impatient.json(*options, urls=[rude.url(path)])

        [result] = ended.results.values()
        assert (result["reason"], result["attempts"]) == ("http_200", 3)
        first, second, third = (hit.at for hit in rude.hits[path])
        assert second - first >= 0.2
        assert third - second >= 0.4

    def test_tries_come_to_an_end(self, impatient: Command, rude: Rude) -> None:
        path = rude.fresh("/flaky/9")
        options = ["--no-robots", "--retries", "2", "--method", "GET"]
        ended = impatient.json(*options, urls=[rude.url(path)])

        [result] = ended.results.values()
        assert (result["reason"], result["attempts"]) == ("http_503", 3)
        assert (result["verdict"], ended.code) == ("temporary", 0)
        assert len(rude.hits[path]) == 3

    def test_only_what_may_heal_is_tried_again(
        self, impatient: Command, rude: Rude
    ) -> None:
        broken, blocked, garbage = (
            rude.fresh(path) for path in ("/status/404", "/status/403", "/garbage")
        )
        asked = [rude.url(path) for path in (broken, blocked, garbage)]
        ended = impatient.json("--no-robots", "--retries", "3", urls=asked)

        assert {r["attempts"] for r in ended.results.values()} == {1}
        for path in (broken, blocked, garbage):
            assert rude.methods(path) == ["HEAD", "GET"]

    @pytest.mark.parametrize("path", ["/reset", "/empty-reply"])
    def test_a_connection_that_fails_is_tried_again(
        self, impatient: Command, rude: Rude, path: str
    ) -> None:
        path = rude.fresh(path)
        options = ["--no-robots", "--retries", "1", "--method", "GET"]
        ended = impatient.json(*options, urls=[rude.url(path)])

        [result] = ended.results.values()
        assert (result["verdict"], result["attempts"]) == ("temporary", 2)
        assert len(rude.hits[path]) == 2

    def test_a_server_that_asks_for_a_second_gets_it(
        self, impatient: Command, rude: Rude
    ) -> None:
        path = rude.fresh("/retry-after/1")
        ended = impatient.json("--no-robots", urls=[rude.url(path)])

        [result] = ended.results.values()
        assert (result["reason"], result["attempts"]) == ("http_200", 2)
        first, second = (hit.at for hit in rude.hits[path])
        assert second - first >= 1

    def test_it_may_name_the_moment_as_a_date(
        self, impatient: Command, rude: Rude
    ) -> None:
        path = rude.fresh("/retry-after-date/2")
        options = ["--no-robots", "--method", "GET"]
        ended = impatient.json(*options, urls=[rude.url(path)])

        [result] = ended.results.values()
        assert result["reason"] == "http_200"
        first, second = (hit.at for hit in rude.hits[path])
        assert second - first >= 0.9  # a date has no fractions of a second

    def test_its_wish_is_heard_in_the_answer_to_head_too(
        self, impatient: Command, rude: Rude
    ) -> None:
        path = rude.fresh("/retry-after-date/2")
        impatient.json("--no-robots", urls=[rude.url(path)])

        first, second = (hit.at for hit in rude.hits[path])
        assert second - first >= 0.9

    def test_while_a_host_rests_nothing_else_is_asked_of_it(
        self, impatient: Command, rude: Rude
    ) -> None:
        busy, other = rude.fresh("/retry-after/1"), rude.fresh("/ok")
        asked = [rude.url(busy), rude.url(other)]
        impatient.json("--no-robots", "--per-host", "1", urls=asked)

        assert rude.hits[other][0].at - rude.hits[busy][0].at >= 1

    def test_a_wish_for_an_hour_is_told_and_not_waited_for(
        self, impatient: Command, rude: Rude
    ) -> None:
        path = rude.fresh("/retry-after/3600")
        ended = impatient.json("--no-robots", urls=[rude.url(path)])

        [result] = ended.results.values()
        assert (result["verdict"], result["attempts"]) == ("temporary", 1)
        assert "3,600 s" in result["message"]
        assert len(rude.hits[path]) == 1


class TestFiles:
    def test_a_link_to_a_missing_file_is_broken_where_it_stands(
        self, ronda: Command
    ) -> None:
        (ronda.folder / "there.md").write_text("# Part one\n")
        (ronda.folder / "a.md").write_text(
            "# A\n\n[good](there.md) [bad](gone.md) [part](there.md#part-one)\n"
            "[no part](there.md#part-two)\n"
        )
        ended = ronda.json("a.md", "--fragments")

        found = {
            Path(url).name: (r["reason"], r["found_in"][0]["line"])
            for url, r in ended.results.items()
        }
        assert found == {
            "there.md": ("file_found", 3),
            "gone.md": ("file_missing", 3),
            "there.md#part-one": ("fragment_found", 3),
            "there.md#part-two": ("fragment_missing", 4),
        }
        assert ended.code == 1


class TestMail:
    def test_every_address_of_a_link_is_judged(self, world: World) -> None:
        ended = world.ronda.json(
            *world.options, urls=["mailto:a@mail.ronda.test,nonsense"]
        )

        [result] = ended.results.values()
        assert result["reason"] == "mail_syntax"
        assert "nonsense" in result["message"]

    def test_the_domain_of_a_second_address_is_asked_for_too(
        self, world: World
    ) -> None:
        ended = world.ronda.json(
            *world.options, urls=["mailto:a@mail.ronda.test,b@null-mx.ronda.test"]
        )

        [result] = ended.results.values()
        assert result["reason"] == "mail_refused"
