"""Certificates: where trust is found, and what a server's own one says."""

import os
from collections.abc import Iterable
from pathlib import Path

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
_NAMES = "JanFebMarAprMayJunJulAugSepOctNovDec"
_MONTHS = {_NAMES[n : n + 3]: n // 3 + 1 for n in range(0, 36, 3)}


def ca_file(given: str) -> str:
    """The trusted certificates: the setting, the environment's, or the system's."""
    named = given or os.environ.get("SSL_CERT_FILE", "")
    if named:
        return named
    return next((path for path in _BUNDLES if Path(path).is_file()), "")


class Certificates:
    """What each server showed; libcurl tells it only for a new connection."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, int | None], Certificate] = {}

    def of(self, curl: pycurl.Curl, url: str) -> Certificate | None:
        """The certificate behind a URL's answer."""
        key = urls.host(url), urls.port(url)
        if not curl.getinfo(pycurl.NUM_CONNECTS) and key in self._seen:
            return self._seen[key]
        chain = curl.getinfo_raw(pycurl.INFO_CERTINFO)
        if not chain:
            return self._seen.get(key)
        found = self._seen[key] = _facts(chain[0])
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
