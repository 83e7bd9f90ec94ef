"""A task that is a program: what it is told of a target, and what its answer means."""

import msgspec
from msgspec import Struct

from ronda.model import (
    Answer,
    Done,
    Job,
    NotApplicable,
    Ran,
    Request,
    Service,
    Verdict,
    Via,
    Visit,
)
from ronda.probes.said import Identity, said


class Program(Struct, frozen=True):
    """A program, once it is known who it is."""

    path: str
    identity: Identity
    timeout: float  # seconds that it may take

    def begin(self, visit: Visit, service: Service) -> Request:
        """Run it."""
        url = visit.target.url
        job = Job(
            program=self.path,
            arguments=(line(url, service),),
            folder=str(service.id),
            timeout=self.timeout,
            input=self._input(url, service),
        )
        payload = msgspec.json.encode(job)
        public = visit.request.public
        return Request(url, via=Via.PROGRAM, payload=payload, public=public)

    def _input(self, url: str, service: Service) -> str:
        """All that is known, in one line of JSON."""
        known = {name: getattr(service, name) for name in service.__struct_fields__}
        more = {"url": url, "task": self.identity.name, "timeout": self.timeout}
        return msgspec.json.encode(known | more).decode() + "\n"

    def judge(self, visit: Visit, answer: Answer, now: float) -> Done | NotApplicable:
        """What it has said."""
        found = said(answer.ran or Ran(failure=answer.error_text or "not run"))
        if found.state is None:
            return NotApplicable()
        return Done(Verdict(found.state, found.reason, found.message))


def line(url: str, service: Service) -> str:
    """The seed's way to tell a program of its target: gid|url|uuid|type|version."""
    parts = (url, service.uuid, service.type, service.version)
    told = (" ".join(part.replace("|", "%7C").split()) for part in parts)
    return "|".join((str(service.id), *told))
