"""One libcurl handle: a request goes into it, an answer is read off it."""

import re
import time
from collections.abc import Callable
from functools import cache

import pycurl

from ronda import urls
from ronda.config import Fetch
from ronda.fetch.certificates import Certificates, ca_file
from ronda.fetch.local import why_unread
from ronda.fetch.rate import Rate
from ronda.fetch.watch import Sockets, Watch
from ronda.model import Answer, Certificate, Request, Timings

PROTOCOLS = (
    pycurl.PROTO_HTTP
    | pycurl.PROTO_HTTPS
    | pycurl.PROTO_FTP
    | pycurl.PROTO_FTPS
    | pycurl.PROTO_SFTP
    | pycurl.PROTO_FILE
)
DISCARD_LIMIT = 256 * 1024  # bytes of an unwanted body that are read and dropped
PROXY_ERROR = 97  # libcurl's code, which pycurl has no name for
FIRST_BYTES = "0-1023"  # what is asked for when a GET only stands in for a HEAD
MICRO = 1_000_000  # libcurl counts in millionths of a second
_TEXT = re.compile(
    rb"\s*($|text/|[^;]*(html|xml|json|markdown|csv|opml))", re.IGNORECASE
)
# Types that servers give to what they do not know, and names that say more.
_VAGUE = re.compile(rb"\s*(application|binary)/(x-)?(gzip|octet-stream)", re.IGNORECASE)
_NAMED = re.compile(
    r"\.(xml|txt|csv|css|jsonl?|webmanifest|md|html?|opml)(\.gz)?(\?|$)", re.IGNORECASE
)
# What is no text, but has links for who can read it.
_PDF = re.compile(rb"\s*application/pdf\b", re.IGNORECASE)
_BLANK = b"\r\n"  # ends a block of headers


class Exchange:
    """A handle used again and again: making one costs more than a request."""

    __slots__ = (
        "_body",
        "_certificates",
        "_cut",
        "_encoded",
        "_headers",
        "_kept",
        "_last",
        "_listing",
        "_method",
        "_modern",
        "_pinned",
        "_plain",
        "_rate",
        "_read",
        "_watch",
        "_without_http2",
        "curl",
        "lean",
        "request",
        "settle",
    )

    def __init__(
        self, settings: Fetch, certificates: Certificates, sockets: Sockets
    ) -> None:
        self._certificates = certificates
        self._watch = Watch(sockets)
        self._without_http2 = sockets.without_http2
        self._headers: list[bytes] = []
        self._body: list[bytes] = []
        self._read = self._kept = 0
        self._cut = self._last = False
        # What the handle was last set to, so that it is set again only on a change.
        self._pinned = ""
        self._encoded = self._listing = False
        self._method = ""
        self._modern = settings.http2
        self._rate = Rate(settings.min_rate, settings.min_rate_seconds)
        self.lean = False  # of a good answer, nobody wants to know more than that
        self.request: Request
        self.settle: Callable[[Answer], None]
        self._plain = [f"{name}: {value}" for name, value in settings.headers.items()]
        self.curl = self._make(settings)

    def _make(self, settings: Fetch) -> pycurl.Curl:
        curl = pycurl.Curl()
        set_ = curl.setopt
        set_(pycurl.NOSIGNAL, 1)
        set_(pycurl.PROTOCOLS, PROTOCOLS)
        set_(pycurl.OPENSOCKETFUNCTION, self._watch.open_socket)
        set_(pycurl.PREREQFUNCTION, self._watch.before_request)
        # The address that an FTP server names for its data may be anybody's.
        set_(pycurl.FTP_SKIP_PASV_IP, 1)
        set_(pycurl.HEADERFUNCTION, self._headers.append)
        set_(pycurl.WRITEFUNCTION, self._write)
        set_(pycurl.USERAGENT, settings.agent)
        set_(pycurl.TIMEOUT_MS, int(settings.timeout * 1000))
        set_(pycurl.CONNECTTIMEOUT_MS, int(settings.connect_timeout * 1000))
        set_(pycurl.HTTPHEADER, self._plain)
        # The curves that every server knows. OpenSSL's own list begins with a
        # post-quantum pair that makes a connection a fifth dearer.
        set_(pycurl.SSL_EC_CURVES, "X25519:P-256:P-384:P-521")
        set_(pycurl.OPT_CERTINFO, 1)
        # A link on a stranger's page must not be offered the user's keys.
        ways = pycurl.SSH_AUTH_PASSWORD | pycurl.SSH_AUTH_KEYBOARD
        if settings.ssh_key:
            ways |= pycurl.SSH_AUTH_PUBLICKEY
            set_(pycurl.SSH_PRIVATE_KEYFILE, settings.ssh_key)
        set_(pycurl.SSH_AUTH_TYPES, ways)
        if not settings.http2:
            set_(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        if settings.insecure:
            set_(pycurl.SSL_VERIFYPEER, 0)
            set_(pycurl.SSL_VERIFYHOST, 0)
        elif found := ca_file(settings.ca_file):
            set_(pycurl.CAINFO, found)
        return curl

    # -- out -----------------------------------------------------------------

    def prepare(self, request: Request, address: str, last: bool) -> None:
        """Set the handle to a request, its connection pinned to an address."""
        set_ = self.curl.setopt
        self.request = request
        self._watch.begin(request)
        self._last = last
        set_(pycurl.URL, request.url)
        if request.method != self._method:
            self._method = request.method
            set_(pycurl.NOBODY if self._method == "HEAD" else pycurl.HTTPGET, 1)
        if request.partial:
            set_(pycurl.RANGE, FIRST_BYTES)
        if last:
            set_(pycurl.FORBID_REUSE, 1)
        if request.fresh:
            set_(pycurl.FRESH_CONNECT, 1)
        if request.etag or request.since:
            set_(pycurl.HTTPHEADER, [*self._plain, *_conditions(request)])
        elif request.payload:
            self._give(request)
        if address != self._pinned:
            self._pin(address)
        if bool(request.body) is not self._encoded:
            self._encode(bool(request.body))
        if request.listing is not self._listing:
            self._listing = request.listing
            set_(pycurl.DIRLISTONLY, int(request.listing))
        if self._without_http2:
            self._choose_version(urls.authority(request.url) not in self._without_http2)

    def _give(self, request: Request) -> None:
        set_ = self.curl.setopt
        set_(pycurl.POST, 1)
        set_(pycurl.POSTFIELDS, request.payload)
        # libcurl would ask leave for a large one, which many servers never answer.
        set_(pycurl.HTTPHEADER, [*self._plain, *request.headers, "Expect:"])

    def _pin(self, address: str) -> None:
        """One literal address: libcurl has no other to try, and keeps no Alt-Svc."""
        self._pinned = address
        if not address:
            self.curl.unsetopt(pycurl.CONNECT_TO)
            return
        name = f"[{address}]" if ":" in address else address
        self.curl.setopt(pycurl.CONNECT_TO, [f"::{name}:"])

    def _choose_version(self, modern: bool) -> None:
        if modern is not self._modern:
            self._modern = modern
            newest, old = pycurl.CURL_HTTP_VERSION_2TLS, pycurl.CURL_HTTP_VERSION_1_1
            self.curl.setopt(pycurl.HTTP_VERSION, newest if modern else old)

    def _encode(self, wanted: bool) -> None:
        """Ask for a compressed body only where the body is read."""
        self._encoded = wanted
        if wanted:
            self.curl.setopt(pycurl.ACCEPT_ENCODING, "")
        else:
            self.curl.unsetopt(pycurl.ACCEPT_ENCODING)

    # -- back ----------------------------------------------------------------

    def _write(self, chunk: bytes) -> int | None:
        first = not self._read
        self._read += len(chunk)
        if not first and self._rate.is_too_slow(len(chunk), time.monotonic()):
            self._watch.veto = pycurl.E_OPERATION_TIMEDOUT, self._rate.words
            return -1
        limit = self.request.body
        if limit and not self._kept and not self.request.raw and not self._is_text():
            self._cut = True
            return -1  # a picture or an archive has no links and no anchors
        if self._kept < limit:
            kept = chunk[: limit - self._kept]
            self._body.append(kept)
            self._kept += len(kept)
        if self._read > (limit or DISCARD_LIMIT):
            self._cut = True
            return -1  # enough: libcurl closes the connection
        return None

    def _is_text(self) -> bool:
        """Whether the body is of a kind that is read; so too when nobody says."""
        for line in reversed(self._headers):
            if line[:13].lower() == b"content-type:":
                named = _VAGUE.match(line[13:]) and _NAMED.search(self.request.url)
                pdf = _PDF.match(line[13:]) and _reads_pdf()
                return bool(named or pdf or _TEXT.match(line[13:]))
        return True

    def answer(self, error: int, text: str) -> Answer:
        """What the handle holds once libcurl is done with it; it is free again."""
        get = self.curl.getinfo
        if error and self._watch.veto:  # whatever libcurl calls it
            error, text = self._watch.veto
        elif error == pycurl.E_COULDNT_CONNECT and get(pycurl.USED_PROXY):
            error = PROXY_ERROR  # the target was never asked
        status = get(pycurl.RESPONSE_CODE)
        if self.lean and status == 200 and not error and not self._body:
            self._headers.clear()
            answer = Answer(
                200, certificate=self._certificate(), sent_at=self._watch.sent_at
            )
            self._reset()
            return answer
        cut = self._cut and error == pycurl.E_WRITE_ERROR
        answer = Answer(
            status=status,
            error=0 if cut else error,
            error_text="" if cut else text,
            headers=self._last_headers(),
            address=get(pycurl.PRIMARY_IP),
            timings=self._timings(),
            size=get(pycurl.SIZE_DOWNLOAD_T),
            body=b"".join(self._body) if self._body else b"",
            cut=self._cut,
            certificate=self._certificate(),
            verify=get(pycurl.SSL_VERIFYRESULT) if error else 0,
            errno=self._errno(error) if error else 0,
            sent_at=self._watch.sent_at,
        )
        self._reset()
        return answer

    def _timings(self) -> Timings:
        get = self.curl.getinfo
        return Timings(
            name=get(pycurl.NAMELOOKUP_TIME_T) / MICRO,
            connect=get(pycurl.CONNECT_TIME_T) / MICRO,
            tls=get(pycurl.APPCONNECT_TIME_T) / MICRO,
            first_byte=get(pycurl.STARTTRANSFER_TIME_T) / MICRO,
            total=get(pycurl.TOTAL_TIME_T) / MICRO,
        )

    def _last_headers(self) -> tuple[bytes, ...]:
        """The lines of the final answer, without those of any 1xx before it."""
        lines = self._headers
        found = tuple(lines)
        lines.clear()
        if found.count(_BLANK) > 1:
            starts = [n for n, line in enumerate(found) if line[:5] == b"HTTP/"]
            found = found[starts[-1] :] if starts else found
        return found

    def _certificate(self) -> Certificate | None:
        if self.request.url[:5] != "https" and self.request.url[:4] != "ftps":
            return None
        return self._certificates.of(self.curl, self.request.url)

    def _errno(self, error: int) -> int:
        if error == pycurl.E_FILE_COULDNT_READ_FILE:
            return why_unread(self.request.url)
        return int(self.curl.getinfo(pycurl.OS_ERRNO))

    def _reset(self) -> None:
        if self._body:
            self._body = []
        if self._read:
            self._rate.begin()
        self._read = self._kept = 0
        self._cut = False
        if self.request.partial:
            self.curl.unsetopt(pycurl.RANGE)
        if self._last:
            self.curl.setopt(pycurl.FORBID_REUSE, 0)
        if self.request.fresh:
            self.curl.setopt(pycurl.FRESH_CONNECT, 0)
        if self.request.etag or self.request.since or self.request.payload:
            self.curl.unsetopt(pycurl.HTTPHEADER)  # to set an empty list does nothing
            self.curl.setopt(pycurl.HTTPHEADER, self._plain)


@cache
def _reads_pdf() -> bool:
    from importlib.util import find_spec  # noqa: PLC0415  # hardly ever needed

    return find_spec("pypdf") is not None


def _conditions(request: Request) -> list[str]:
    """Headers by which only what has changed is sent."""
    found = []
    if request.etag:
        found.append(f"If-None-Match: {request.etag}")
    if request.since:
        found.append(f"If-Modified-Since: {request.since}")
    return found
