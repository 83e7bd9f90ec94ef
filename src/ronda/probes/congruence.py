"""The task `congruence`: is the record of a service such that it can be checked?"""

from ronda import urls
from ronda.model import Answer, Done, Service, Verdict, Visit
from ronda.probes.reasons import verdict
from ronda.probes.task import Asked, Judged, Row

SCHEMES = frozenset({"http", "https", "ftp", "ftps"})


def ask(visit: Visit, service: Service) -> Verdict:
    """It can be said at once: nobody is asked."""
    url = visit.target.url
    if urls.scheme(url) not in SCHEMES:
        return verdict("record_uri", f"{urls.scheme(url)}: is not http, https or ftp")
    missing = [name for name in ("owner", "description") if not getattr(service, name)]
    if missing:
        return verdict("record_incomplete", f"no {' and no '.join(missing)}")
    return verdict("record_complete")


def judge(_visit: Visit, _answer: Answer, _now: float) -> Judged:
    """Never called: nothing was asked."""
    return Done(verdict("own_fault", "congruence asks nobody"))


ROW = Row(
    name="congruence",
    description="Record Data Congruence Check",
    task=Asked(ask, judge),
    function="ronda.probes.congruence",
    script="congruence.py",
)
