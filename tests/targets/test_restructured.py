import io

import pytest

from ronda import config
from ronda.model import Link
from ronda.targets.restructured import read


def links(text: str) -> list[Link]:
    found = read(io.BytesIO(text.encode()), "a.rst", config.Check())
    return [item for item in found if isinstance(item, Link)]


@pytest.mark.parametrize(
    ("text", "url", "words"),
    [
        ("A `text <https://a.example/x>`_.", "https://a.example/x", "text"),
        ("A `text <b.html>`__.", "b.html", "text"),
        (
            "A `two\nlines <https://a.example/\nx>`_.",
            "https://a.example/x",
            "two lines",
        ),
        (".. _name: https://a.example", "https://a.example", "name"),
        (".. _`a: name`: https://a.example", "https://a.example", "a: name"),
        (".. __: https://a.example", "https://a.example", ""),
        ("__ https://a.example", "https://a.example", ""),
        ("See https://a.example/x_(y).", "https://a.example/x_(y)", ""),
        (".. image:: b.png", "b.png", ""),
        (".. figure:: b.png", "b.png", ""),
        (".. |logo| image:: b.png", "b.png", "logo"),
        (".. note::\n\n   `text <b>`_", "b", "text"),
        (".. note:: https://a.example", "https://a.example", ""),
    ],
)
def test_every_way_to_write_a_link_gives_its_url(
    text: str, url: str, words: str
) -> None:
    (link,) = links(text)

    assert (link.url, link.place.text) == (url, words)


@pytest.mark.parametrize(
    "text",
    [
        "Literal::\n\n  https://a.example\n\n  https://a.example",
        "::\n\n  https://a.example",
        "``https://a.example``",
        ".. code-block:: python\n   :linenos:\n\n   https://a.example",
        ".. a comment https://a.example\n   https://a.example",
        "..\n   https://a.example",
        ":doc:`text <page>`",
        "`text <alias_>`_",
        ".. _here:",
        ".. _here: there_",
    ],
)
def test_code_comments_and_names_give_nothing(text: str) -> None:
    assert links(text) == []


def test_a_literal_block_ends_where_the_indent_does() -> None:
    (link,) = links("Literal::\n\n  https://a.example\n\nText https://b.example")

    assert link.url == "https://b.example"


def test_a_link_keeps_its_line_and_column() -> None:
    (link,) = links("Title\n=====\n\nA `text <b>`_")

    assert (link.place.line, link.place.column) == (4, 3)


def test_a_picture_may_lead_somewhere() -> None:
    found = links(".. image:: b.png\n   :target: https://a.example")

    assert [(link.url, link.place.line) for link in found] == [
        ("b.png", 1),
        ("https://a.example", 2),
    ]
