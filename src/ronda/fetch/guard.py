"""The address guard: who may be asked, decided by the address that is dialled."""

from functools import lru_cache
from pathlib import Path

from ronda import config, networks, urls
from ronda.fetch.local import is_within
from ronda.model import GUARDED, Answer, Request
from ronda.networks import Kind

MANY = 8192  # addresses whose answer is remembered

_WORDS = {
    Kind.LINK_LOCAL: "link-local",
    Kind.SHARED: "shared (CGNAT)",
    Kind.METADATA: "a metadata address",
}


class Guard:
    """Says which addresses may be asked, and for whom.

    What the operator named may lead to public addresses and to his own machines; what
    a stranger named, or what has been to a public address once, only to public ones.
    Some addresses are not for asking at all. What the operator allows goes before that.
    """

    def __init__(self, settings: config.Guard) -> None:
        self._allowed = [networks.network(text) for text in settings.allow]
        self._public_only = settings.public_only
        # Remembered: they are asked for every request, and at every connection.
        self.refusal = lru_cache(MANY)(self._refusal)
        self.is_public = lru_cache(MANY)(self._is_public)

    def _refusal(self, address: str, public: bool) -> str:
        """Why an address may not be asked; "" when it may."""
        try:
            kind = networks.kind(address)
        except ValueError:
            return f"{urls.shown(address)} is no address"
        if kind is Kind.PUBLIC or self._allows(address):
            return ""
        if networks.is_own(kind) and not public and not self._public_only:
            return ""
        return f"{address} is {_WORDS.get(kind, kind.value)}"

    def _is_public(self, address: str) -> bool:
        """Whether an address is everybody's, or allowed as if it were."""
        return networks.kind(address) is Kind.PUBLIC or self._allows(address)

    def check(self, request: Request, pin: str) -> Answer | None:
        """The answer to a request that may not be made; None when it may be tried.

        A kept connection has no socket to be opened, but it is used again only for the
        same pin and host: so these are looked at before every request.
        """
        if request.url.startswith("file:"):
            return self._check_file(request)
        address = pin or networks.literal(urls.host(request.url))
        words = self.refusal(address, request.public) if address else ""
        return refused(words) if words else None

    def _check_file(self, request: Request) -> Answer | None:
        """Files are for what the operator named; not outside, where strangers wrote."""
        outside = self._public_only and not is_within(request.url, Path())
        if request.public or outside:
            return refused("a file of this machine")
        return None

    def _allows(self, address: str) -> bool:
        if not self._allowed:
            return False
        parsed = networks.parse(address)
        # Each of the addresses that one carries is on the way there.
        inner = [self._is_within(one) for one in networks.inside(parsed)]
        return self._is_within(parsed) or (bool(inner) and all(inner))

    def _is_within(self, address: networks.Address) -> bool:
        return any(address in network for network in self._allowed)


def refused(words: str) -> Answer:
    """The answer in place of one that the guard did not let us have."""
    return Answer(error=GUARDED, error_text=words)
