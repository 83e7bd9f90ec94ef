"""A URL as somebody writes it, to what is watched for him."""

import logging

from ronda import urls
from ronda.probes import Handlers
from ronda.store.sql.adding import Given

log = logging.getLogger(__name__)


def enrol(
    text: str,
    handlers: Handlers,
    *,
    labels: tuple[str, ...] = (),
    every: float | None = None,
) -> Given:
    """What is to be watched: one spelling, no fragment, and whom it is charged to.

    A scheme that nobody handles is taken all the same; its verdict will say so.

    Raises:
        UrlError: the text is not an absolute URL.
    """
    written = text.strip()
    url = urls.normalise(written)
    return enrolled(url, written, handlers, labels=labels, every=every)


def enrolled(
    url: str,
    written: str,
    handlers: Handlers,
    *,
    labels: tuple[str, ...] = (),
    every: float | None = None,
) -> Given:
    """The same for a URL that is normalised already.

    Args:
        url: may have a fragment.
        written: the URL as its owner writes it.
        handlers: know whom it is charged to.
        labels: words to find it by.
        every: seconds between checks; None: by the rules.
    """
    page = url if "#" not in url else urls.split_fragment(url)[0]
    spelling = written if written != page else None
    return Given(
        page, _host(page, handlers), urls.scheme(page), spelling, labels, every
    )


def _host(url: str, handlers: Handlers) -> str:
    try:
        return handlers.of(url).classify(url)
    except Exception:  # a third party's code may do anything; its visit will tell
        log.exception("handler failed url=%s", urls.shown(url))
        return ""
