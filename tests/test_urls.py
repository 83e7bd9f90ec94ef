"""URLs by the WHATWG standard."""

from typing import Any

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import FOLDER, cases
from ronda import urls
from ronda.errors import UrlError

texts = st.one_of(
    st.text(),
    st.text(alphabet="htps:/?#@[]%.\\ \t\n\0aé1-_~0x", max_size=40).map(
        lambda text: f"http:{text}"
    ),
)
names = st.from_regex(r"[a-z][a-z0-9]{0,8}(\.[a-z][a-z0-9]{0,8}){0,3}", fullmatch=True)
hosts = st.one_of(
    names, st.ip_addresses(v=4).map(str), st.ip_addresses(v=6).map("[{}]".format)
)
ports = st.integers(1, 65_535)
paths = st.text(alphabet="abc/.%20é @:", max_size=20)
schemes = st.sampled_from(["http", "https", "ftp", "sftp", "odd"])


@pytest.mark.parametrize("case", cases("wpt_urltestdata.json"))
def test_the_cases_of_the_standard_hold(case: dict[str, Any]) -> None:
    parse = (
        (lambda: urls.normalise(case["input"]))
        if case["base"] is None
        else (lambda: urls.join(case["base"], case["input"]))
    )
    if case.get("failure"):
        with pytest.raises(UrlError):
            parse()
        return

    assert parse() == case["href"]


def test_there_are_as_many_cases_as_the_standard_has() -> None:
    assert len(cases("wpt_urltestdata.json")) == 891 or not FOLDER.exists()


@given(texts)
def test_what_is_normalised_stays_as_it_is(text: str) -> None:
    try:
        once = urls.normalise(text)
    except UrlError:
        return

    assert urls.normalise(once) == once
    assert urls.is_absolute(once)
    assert urls.scheme(once) == once.partition(":")[0]


@given(texts, texts)
def test_what_is_joined_is_normalised(base: str, reference: str) -> None:
    try:
        joined = urls.join(urls.normalise(base), reference)
    except UrlError:
        return

    assert urls.normalise(joined) == joined
    assert urls.join(base, joined) == joined


@given(schemes, hosts, ports, paths)
def test_the_helpers_see_what_the_standard_sees(
    scheme: str, host: str, port: int, path: str
) -> None:
    url = urls.normalise(f"{scheme}://user:secret@{host}:{port}/{path}")
    parsed = ada_url.URL(url)

    assert urls.scheme(url) == parsed.protocol[:-1]
    assert urls.host(url) == parsed.hostname
    assert urls.port(url) == (int(parsed.port) if parsed.port else None)


@given(texts)
def test_the_host_of_any_url_is_the_standard_s(text: str) -> None:
    try:
        url = urls.normalise(text)
    except UrlError:
        return
    parsed = ada_url.URL(url)

    assert urls.host(url) == parsed.hostname
    assert urls.port(url) == (int(parsed.port) if parsed.port else None)


@given(schemes, st.text(max_size=10), st.text(max_size=10), hosts, paths)
def test_without_credentials_nobody_is_named(
    scheme: str, user: str, password: str, host: str, path: str
) -> None:
    try:
        url = urls.normalise(f"{scheme}://{user}:{password}@{host}/{path}")
    except UrlError:
        return
    shown = ada_url.URL(urls.without_credentials(url))

    assert (shown.username, shown.password) == ("", "")
    whole = ada_url.URL(url)
    assert (shown.host, shown.pathname) == (whole.host, whole.pathname)


@given(texts)
def test_a_fragment_can_be_put_back(text: str) -> None:
    try:
        url = urls.normalise(text)
    except UrlError:
        return
    page, fragment = urls.split_fragment(url)

    assert "#" not in page
    assert url in {f"{page}#{fragment}", page}


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("http://a.test/", "a.test", None),
        ("http://a.test:8080/x:y", "a.test", 8080),
        ("http://[::1]:8080/", "[::1]", 8080),
        ("http://u:p@a.test/@b.test", "a.test", None),
        ("mailto:a@b.test", "", None),
        ("file:///etc/hosts", "", None),
        ("http://a.test/?u=http://b.test:1/", "a.test", None),
    ],
)
def test_a_url_is_taken_apart(url: str, host: str, port: int | None) -> None:
    assert (urls.host(url), urls.port(url)) == (host, port)


def test_longer_than_any_server_takes_is_no_url() -> None:
    longest = "http://a.test/".ljust(urls.LONGEST, "x")

    assert urls.normalise(longest) == longest
    with pytest.raises(UrlError, match="too long"):
        urls.normalise(longest + "x")


@pytest.mark.parametrize(
    "text", ["", "a.test", "/path", "http://", "http://[::1", "\ud800", "http://a b/"]
)
def test_what_is_no_url_is_told_in_one_line(text: str) -> None:
    with pytest.raises(UrlError) as raised:
        urls.normalise(text)

    assert str(raised.value).isprintable()


@given(st.text(), st.integers(2, 50))
def test_a_text_from_outside_is_shown_on_one_short_line(text: str, size: int) -> None:
    shown = urls.shown(text, size)

    assert len(shown) == min(len(text), size)
    assert shown.isprintable()


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://two.test./x", "two.test"),
        ("sftp://HOST.Example/x", "host.example"),
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://./", "."),
        ("mailto:a@b.test", ""),
    ],
)
def test_a_host_has_one_key_however_it_is_spelt(url: str, key: str) -> None:
    assert urls.host_key(url) == key


@pytest.mark.parametrize(
    "text",
    [
        "//bob:s3cret@ex ample/",
        "http:\\\\bob:s3cret@example",
        "ftp:bob:s3cret@example",
        "http://bob:s3/s3cret@example.org/",
    ],
)
def test_what_may_be_a_password_is_masked_in_any_text(text: str) -> None:
    assert "s3" not in urls.masked(text)


def test_what_is_no_password_is_not_masked() -> None:
    for text in ("https://a.test/@user", "mailto:bob@a.test", "a: b@c"):
        assert urls.masked(text) == text
