"""A page on its way from a fetcher to a crawler to a worker."""

from collections.abc import Sequence

from msgspec import Struct

from ronda.model import Answer, Found, Problem, Result, Target, Visit


class Page(Struct, frozen=True, eq=False):
    """What a fetcher hands on: an answer to be read, saved, or both."""

    visit: Visit
    answer: Answer
    public: bool  # it was at a public address
    parent: Target | None  # its links are wanted, and seen from here
    ends: bool  # its visit ends with it
    result: Result | None = None  # what is remembered at the end, if anybody does
    digest: str = ""
    kind: str = ""  # its Content-Type, or as it was known if it is unchanged
    # Once it was read:
    read: bool = False
    links: Sequence[Found | Problem] | None = None  # to be remembered
    is_copy: bool = False  # it says itself that another page is the original

    @property
    def unchanged(self) -> bool:
        """Whether it is as it was when it was last read."""
        return self.answer.status == 304
