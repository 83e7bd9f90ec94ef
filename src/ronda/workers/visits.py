"""How a target becomes a visit, and whom a visit is charged to."""

from msgspec.structs import replace

from ronda import urls
from ronda.frontier import Item
from ronda.model import Answer, Ask, Done, Request, Target, Via, Visit
from ronda.probes import Handlers
from ronda.probes.plans import Plans

_BARE = Request("")  # nothing is asked


def target_of(item: Item) -> Target:
    """The target that an item is, or is the visit of."""
    return item if isinstance(item, Target) else item.target


def begin(item: Item, handlers: Handlers) -> Visit:
    """A visit under way as it is; a target with its first request."""
    if isinstance(item, Visit):
        return item
    request = handlers.of(item.url).begin(item)
    if item.public:
        request = replace(request, public=True)
    return Visit(item, request, item.host)


def begin_bare(item: Item) -> Visit:
    """A visit whose handler was not asked, for it may be at fault."""
    return item if isinstance(item, Visit) else Visit(item, _BARE, item.host)


def advance(
    visit: Visit, answer: Answer, now: float, handlers: Handlers, plans: Plans | None
) -> Ask | Done:
    """What an answer means to a visit: by its plan, or by the scheme of its URL."""
    if visit.progress is not None and plans is not None:
        return plans.advance(visit, answer, now)
    return handlers.of(visit.target.url).advance(visit, answer, now)


def charged(visit: Visit) -> Visit:
    """A visit whose request is charged to the host it really goes to."""
    if visit.request.via is not Via.CURL:
        return visit
    host = urls.host_key(visit.request.url)
    return visit if host == visit.host else replace(visit, host=host)
