"""Certificates: where trust is found, and what a server's own one says."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from time import monotonic

import pycurl

from ronda import urls
from ronda.model import Certificate

# Where Debian, Red Hat, Alpine and the BSDs keep theirs.
_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
    "/etc/ssl/ca-bundle.pem",
)
UNUSED = 900.0  # seconds: longer than a request and libcurl's two minutes after it
Key = tuple[str, int | None]  # host and port
_NAMES = "JanFebMarAprMayJunJulAugSepOctNovDec"
_MONTHS = {_NAMES[n : n + 3]: n // 3 + 1 for n in range(0, 36, 3)}


def ca_file(given: str) -> str:
    """The trusted certificates: the setting, the environment's, or the system's."""
    named = given or os.environ.get("SSL_CERT_FILE", "")
    if named:
        return named
    return next((path for path in _BUNDLES if Path(path).is_file()), "")


class Certificates:
    """What each server showed; libcurl tells it only for a new connection.

    It is forgotten when no connection can be left: libcurl uses none again that nobody
    used for two minutes.
    """

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        # Those that were used since a moment, and those that only were before it.
        self._seen: dict[Key, Certificate] = {}
        self._before: dict[Key, Certificate] = {}
        self._since = now()

    def of(self, curl: pycurl.Curl, url: str) -> Certificate | None:
        """The certificate behind a URL's answer."""
        key = urls.host(url), urls.port(url)
        known = self._known(key)
        if known is not None and not curl.getinfo(pycurl.NUM_CONNECTS):
            return known
        chain = curl.getinfo_raw(pycurl.INFO_CERTINFO)
        if not chain:
            return known
        found = self._seen[key] = _facts(chain[0])
        return found

    def _known(self, key: Key) -> Certificate | None:
        now = self._now()
        if now - self._since >= UNUSED:
            self._before, self._seen, self._since = self._seen, {}, now
        found = self._seen.get(key)
        if found is None and (found := self._before.pop(key, None)) is not None:
            self._seen[key] = found
        return found


def _facts(pairs: Iterable[tuple[bytes, bytes]]) -> Certificate:
    # Raw: a name in a certificate may be any bytes at all.
    facts = {
        k.decode("utf-8", "replace"): v.decode("utf-8", "replace") for k, v in pairs
    }
    names = facts.get("X509v3 Subject Alternative Name", "")
    return Certificate(
        subject=facts.get("Subject", ""),
        issuer=facts.get("Issuer", ""),
        starts_at=_moment(facts.get("Start date", "")),
        ends_at=_moment(facts.get("Expire date", "")),
        names=tuple(
            name.partition(":")[2] for name in names.split(", ") if ":" in name
        ),
    )


def _moment(text: str) -> str:
    """OpenSSL's `Nov 15 12:00:00 2026 GMT` as ISO 8601.

    By hand: strptime would take longer than all other facts of a certificate.
    """
    parts = text.split()
    if len(parts) != 5 or parts[0] not in _MONTHS:
        return text
    month, day, time, year, _ = parts
    return f"{year}-{_MONTHS[month]:02}-{int(day):02}T{time}Z"
