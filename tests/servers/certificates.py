"""Certificates of every kind that a server may show, from one authority of our own."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from servers.process import ADDRESSES

DOMAINS = ("ronda.test", "*.ronda.test", "*.any.ronda.test")
NAMES = ("localhost", *DOMAINS, *ADDRESSES, "::1")
ENDING_DAYS = 5  # within the 14 days that earn a warning
KINDS = (
    "good",
    "expired",
    "not_yet_valid",
    "self_signed",
    "wrong_name",
    "incomplete",
    "ending",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """The two PEM files that a server is given."""

    chain: Path
    key: Path
    not_after: datetime


class Certificates:
    """One certificate a kind (`KINDS`) in `folder`, and the `authority` to trust.

    All are issued by an intermediate authority; only `incomplete` does not send it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        root = trustme.CA()
        self._issuer = root.create_child_ca()
        self.authority = folder / "authority.pem"
        root.cert_pem.write_to_path(self.authority)
        now = datetime.now(UTC).replace(microsecond=0)
        day, year = timedelta(days=1), timedelta(days=365)
        self._kinds = {
            "good": self._issue("good", now - day, now + year),
            "expired": self._issue("expired", now - year, now - day),
            "not_yet_valid": self._issue("not_yet_valid", now + day, now + year),
            "self_signed": self._sign_self(now - day, now + year),
            "wrong_name": self._issue(
                "wrong_name", now - day, now + year, names=("elsewhere.example",)
            ),
            "incomplete": self._issue(
                "incomplete", now - day, now + year, with_issuer=False
            ),
            "ending": self._issue("ending", now - day, now + ENDING_DAYS * day),
        }

    def __getitem__(self, kind: str) -> Certificate:
        return self._kinds[kind]

    def _issue(
        self,
        kind: str,
        not_before: datetime,
        not_after: datetime,
        *,
        names: tuple[str, ...] = NAMES,
        with_issuer: bool = True,
    ) -> Certificate:
        leaf = self._issuer.issue_cert(
            *names, not_before=not_before, not_after=not_after
        )
        sent = leaf.cert_chain_pems if with_issuer else leaf.cert_chain_pems[:1]
        return self._write(
            kind,
            b"".join(pem.bytes() for pem in sent),
            leaf.private_key_pem.bytes(),
            not_after,
        )

    def _sign_self(self, not_before: datetime, not_after: datetime) -> Certificate:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
        alternatives = x509.SubjectAlternativeName([x509.DNSName("localhost")])
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(not_before)
            .not_valid_after(not_after)
            .add_extension(alternatives, critical=False)
            .sign(key, hashes.SHA256())
        )
        return self._write(
            "self_signed",
            certificate.public_bytes(serialization.Encoding.PEM),
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            ),
            not_after,
        )

    def _write(
        self, kind: str, chain: bytes, key: bytes, not_after: datetime
    ) -> Certificate:
        chain_file = self._folder / f"{kind}.pem"
        key_file = self._folder / f"{kind}.key"
        chain_file.write_bytes(chain)
        key_file.write_bytes(key)
        return Certificate(chain=chain_file, key=key_file, not_after=not_after)
