import pytest

from ronda.cli.watch.lookup import near_url

KNOWN = ["https://a.example/", "https://a.example/shop", "https://a.example/news/1"]


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("https://a.example/shop/", "https://a.example/shop"),
        ("http://a.example/shop", "https://a.example/shop"),
        ("https://a.example/news/2", "https://a.example/news/1"),
    ],
)
def test_a_slip_of_the_finger_is_told(url: str, meant: str) -> None:
    assert near_url(url, KNOWN) == f"did you mean {meant}?"


@pytest.mark.parametrize("path", ["x", "zzz", "entirely/else", "shopping-list.html"])
def test_that_it_is_of_the_same_host_is_not_enough(path: str) -> None:
    assert near_url(f"https://a.example/{path}", KNOWN) == ""
