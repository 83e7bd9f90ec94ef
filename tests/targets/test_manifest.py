from ronda.config import Check
from ronda.model import Found, Problem
from ronda.targets import links_of

MANIFEST = b"""{
  "name": "https://no.example/", "id": "/no", "start_url": "./?from=home",
  "scope": "/app/", "icons": [{"src": "icons/a.png", "sizes": "48x48"},
                              {"src": "data:image/png;base64,no"}],
  "screenshots": [{"src": "/shot.png"}],
  "shortcuts": [{"name": "x", "url": "\\/new", "icons": [{"src": "n.svg"}]}],
  "related_applications": [{"platform": "web", "url": "https://b.example/app"}],
  "share_target": {"action": "/no", "method": "POST"},
  "protocol_handlers": [{"protocol": "web+x", "url": "/no?q=%s"}]
}
"""


def found(body: bytes, kind: str, name: str = "m") -> list[Found | Problem]:
    return list(links_of(body, f"https://a.example/app/{name}", kind, Check()))


def test_what_a_manifest_names_is_found_and_seen_from_it() -> None:
    items = found(MANIFEST, "application/manifest+json")

    assert [item.url for item in items if isinstance(item, Found)] == [
        "https://a.example/app/?from=home",
        "https://a.example/app/",
        "https://a.example/app/icons/a.png",
        "https://a.example/shot.png",
        "https://a.example/new",
        "https://a.example/app/n.svg",
        "https://b.example/app",
    ]


def test_a_link_of_a_manifest_has_its_line_and_path() -> None:
    items = found(MANIFEST, "", "site.webmanifest")

    place = items[2].place
    assert (place.line, place.text) == (3, "icons[0].src")


def test_a_manifest_that_is_not_json_is_no_mistake_of_the_user() -> None:
    (problem,) = found(b'{"start_url": ', "application/manifest+json")

    assert isinstance(problem, Problem)
    assert not problem.grave
