"""URLs as people write them, to what is watched for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda import urls
from ronda.config import Settings
from ronda.errors import UrlError
from ronda.probes import Handlers
from ronda.store.sql.adding import Given
from ronda.workers.enrolment import enrol, enrolled

HANDLERS = Handlers(Settings())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("https://a.example/x", Given("https://a.example/x", "a.example", "https")),
        (
            " HTTPS://A.example./#top ",
            Given(
                "https://a.example./", "a.example", "https", "HTTPS://A.example./#top"
            ),
        ),
        (
            "http://[::1]:80/",
            Given("http://[::1]/", "[::1]", "http", "http://[::1]:80/"),
        ),
        ("ftp://f.example/", Given("ftp://f.example/", "f.example", "ftp")),
        ("mailto:me@a.example", Given("mailto:me@a.example", "mx:", "mailto")),
        ("file:///etc/hosts", Given("file:///etc/hosts", "", "file")),
        ("foo:bar", Given("foo:bar", "", "foo")),
    ],
)
def test_a_url_has_one_spelling_and_somebody_to_be_charged(
    text: str, wanted: Given
) -> None:
    assert enrol(text, HANDLERS) == wanted


def test_labels_and_a_pace_go_with_it() -> None:
    found = enrol("http://a.example/", HANDLERS, labels=("x",), every=60.0)

    assert (found.labels, found.every) == (("x",), 60.0)


@pytest.mark.parametrize("text", ["", "a.example", "/x", "http://", "http://[::1"])
def test_what_is_no_absolute_url_is_refused(text: str) -> None:
    with pytest.raises(UrlError):
        enrol(text, HANDLERS)


@given(st.text(max_size=20).map("http://a.example/{}".format))
def test_what_is_watched_is_normal_and_has_no_fragment(text: str) -> None:
    try:
        found = enrol(text, HANDLERS)
    except UrlError:
        return
    assert urls.normalise(found.url) == found.url
    assert "#" not in found.url
    assert enrol(found.url, HANDLERS) == Given(found.url, "a.example", "http")


def test_a_url_that_is_normal_already_keeps_how_it_was_written() -> None:
    found = enrolled("http://a.example/#b", "http://A.example#b", HANDLERS)

    assert (found.url, found.spelling) == ("http://a.example/", "http://A.example#b")


def test_a_plug_in_that_fails_does_not_keep_a_url_from_being_watched() -> None:
    class Fails:
        def classify(self, url: str) -> str:
            raise ZeroDivisionError

    class Broken:
        def of(self, url: str) -> Fails:
            return Fails()

    found = enrol("foo:bar", Broken())  # type: ignore[arg-type]
    assert found == Given("foo:bar", "", "foo")
