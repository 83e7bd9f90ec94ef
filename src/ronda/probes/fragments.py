"""Fragments: whether a page that works holds the anchor a link names."""

from collections.abc import Set as AbstractSet
from urllib.parse import unquote

from ronda.model import State, Verdict
from ronda.probes.reasons import verdict

# Never an anchor of the page: the top, and text fragments (a browser's own search).
_TEXT = ":~:"


def judge_fragment(
    page: Verdict, anchors: AbstractSet[str] | None, fragment: str
) -> Verdict:
    """The verdict on a link to a part of a page.

    Args:
        page: the verdict on the page itself; a page that fails decides.
        anchors: the page's anchors; None when it is of a kind that has none.
        fragment: as in the URL, percent-encoded.
    """
    if page.state not in {State.OK, State.WARNING}:
        return page
    name = fragment.split(_TEXT, 1)[0]
    if not name or name.lower() == "top":
        return page
    if anchors is None:
        return page if page.state is State.WARNING else verdict("fragment_unread")
    if name in anchors or unquote(name) in anchors:
        return page if page.state is State.WARNING else verdict("fragment_found")
    return verdict("fragment_missing", f"#{name}")
