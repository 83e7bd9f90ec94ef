"""The demo's web as something to watch: its URLs, and settings without long waits."""

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from ronda.cli.demo.command import RETRY_GAP, TIMEOUT
from ronda.config import Intervals, Settings
from ronda.errors import UrlError
from ronda.model import Found
from ronda.probes import Handlers
from ronda.targets import links_of

if TYPE_CHECKING:
    from ronda.cli.demo.web import DemoWeb
    from ronda.store.sql.store import Store

AGAIN = 10.0  # seconds after which everything is checked again
MENDED = 5.0  # seconds after which what can be mended is: before it is checked again
OWNER = "museum"  # who is told of changes
_NOTICES = 2.0  # seconds between two batches


def demo_settings(given: Settings, web: "DemoWeb") -> Settings:
    """Settings under which every verdict is seen within seconds."""
    fetch = replace(
        given.fetch,
        timeout=TIMEOUT,
        retries=1,
        retry_gap=RETRY_GAP,
        ca_file=web.ca_file,
        name_servers=(web.name_server,),
    )
    soon = Intervals(
        ok=AGAIN,
        warning=AGAIN,
        temporary=AGAIN,
        broken=AGAIN,
        blocked=AGAIN,
        confirm=1,
    )
    notices = replace(given.notices, interval=_NOTICES)
    return replace(given, fetch=fetch, schedule=(soon,), notices=notices)


def demo_urls(settings: Settings, web: "DemoWeb", store: "Store") -> int:
    """Register all that the pages of the demo's web link to; how many there are."""
    from ronda.store.sql.schema import OPERATOR  # noqa: PLC0415  # see serve
    from ronda.workers.enrolment import enrol  # noqa: PLC0415

    handlers = Handlers(settings)
    wanted = dict.fromkeys(web.pages)
    for url, body in web.documents():
        for link in links_of(body, url, "text/html", settings.check, len(body)):
            if isinstance(link, Found):
                wanted[link.url] = None
    given = []
    for url in wanted:
        try:
            given.append(enrol(url, handlers))
        except UrlError:
            continue  # a broken link of the demo, which is no URL at all
    now = store.database.epoch()
    owner, _ = store.owners.add(OWNER, callback=web.callback, now=now)
    added = store.adding.add(OPERATOR, given, now)
    store.adding.add(owner.id, given, now)
    return added.new


def in_words(body: bytes) -> str:
    """A batch of notices, as it is shown to people; a reconciliation is not."""
    batch = msgspec.json.decode(body)
    if batch["kind"] != "notices":
        return ""
    notices = batch["notices"]
    told = f"{len(notices)} changes"
    if len(notices) == 1:
        told = "{was} to {state}, {url}".format(**notices[0])
    return f"the owner {OWNER} is told by a POST: {told}"
