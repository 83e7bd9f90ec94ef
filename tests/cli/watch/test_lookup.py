import pytest

from ronda.cli.watch.lookup import near, near_url

KNOWN = ["https://a.example/", "https://a.example/shop", "https://a.example/news/1"]


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("https://a.example/shop/", "https://a.example/shop"),
        ("http://a.example/shop", "https://a.example/shop"),
        ("http://a.example/", "https://a.example/"),
        ("https://a.example/news/2", "https://a.example/news/1"),
        ("https://a.example/nwes/1", "https://a.example/news/1"),
    ],
)
def test_a_slip_of_the_finger_is_told(url: str, meant: str) -> None:
    assert near_url(url, KNOWN) == f"did you mean {meant}?"


@pytest.mark.parametrize(
    "path",
    ["x", "zzz", "sh", "shops2", "news", "entirely/else", "shopping-list.html"],
)
def test_that_it_is_of_the_same_host_is_not_enough(path: str) -> None:
    assert near_url(f"https://a.example/{path}", KNOWN) == ""


def test_a_name_is_near_only_if_it_is_very_much_so() -> None:
    known = ["newsroom", "press-office-of-the-north"]

    assert near("newsrom", known) == "did you mean newsroom?"
    assert near("press-ofice-of-the-nroth", known) == f"did you mean {known[1]}?"
    assert near("newsdesk", known) == ""
    assert near("n", ["m"]) == ""
