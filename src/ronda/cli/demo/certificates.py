"""The certificates of the demo's https sites: one good, and one of every fault."""

from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID
from msgspec import Struct

CA_NAME = "ca"
ADDRESS = "127.0.0.1"

_SLACK = timedelta(hours=1)  # so that "in 5 days" is still 5 whole days when asked
_SIGNING = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


class Kind(Struct, frozen=True):
    """What one site's certificate says; days count from today."""

    issuer: str = CA_NAME  # "" signs itself
    name: str = ADDRESS
    starts: int = -30
    ends: int = 365


KINDS = {
    "good": Kind(),
    "expired": Kind(starts=-90, ends=-3),
    "self_signed": Kind(issuer=""),
    "wrong_name": Kind(name="old-pier.test"),
    "ending": Kind(ends=5),
    "incomplete": Kind(issuer="intermediate"),  # and the site does not send that one
}


class Issuer(Struct, frozen=True):
    """Who may sign: a certificate and its key."""

    certificate: x509.Certificate
    key: EllipticCurvePrivateKey


def write(folder: Path, now: datetime) -> dict[str, Path]:
    """Makes every certificate, with its key, as a PEM file named by its kind.

    Returns:
        The files by kind; `CA_NAME` is the one to trust, without its key.
    """
    root = _issuer("Harbour Museum demo CA", None, now)
    middle = _issuer("Harbour Museum demo intermediate", root, now)
    issuers = {CA_NAME: root, "intermediate": middle}
    files = {CA_NAME: folder / "ca.pem"}
    files[CA_NAME].write_bytes(root.certificate.public_bytes(Encoding.PEM))
    for label, kind in KINDS.items():
        files[label] = folder / f"{label}.pem"
        files[label].write_bytes(_site(kind, issuers.get(kind.issuer), now))
    return files


def _issuer(name: str, parent: Issuer | None, now: datetime) -> Issuer:
    key = generate_private_key(SECP256R1())
    builder = (
        _builder(name, key, parent)
        .not_valid_before(now - timedelta(days=365))
        .not_valid_after(now + timedelta(days=3650))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_SIGNING, critical=True)
    )
    return Issuer(builder.sign(parent.key if parent else key, SHA256()), key)


def _site(kind: Kind, issuer: Issuer | None, now: datetime) -> bytes:
    key = generate_private_key(SECP256R1())
    builder = (
        _builder(kind.name, key, issuer)
        .not_valid_before(now + timedelta(days=kind.starts))
        .not_valid_after(now + timedelta(days=kind.ends) + _SLACK)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([_name(kind.name)]), critical=False)
    )
    certificate = builder.sign(issuer.key if issuer else key, SHA256())
    private = key.private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, encryption_algorithm=NoEncryption()
    )
    return certificate.public_bytes(Encoding.PEM) + private


def _builder(
    name: str, key: EllipticCurvePrivateKey, issuer: Issuer | None
) -> x509.CertificateBuilder:
    subject = _subject(name)
    signer = issuer.key if issuer else key
    authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .add_extension(
            x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
        )
        .add_extension(authority, critical=False)
    )


def _subject(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _name(text: str) -> x509.GeneralName:
    if text == ADDRESS:
        return x509.IPAddress(ip_address(text))
    return x509.DNSName(text)
