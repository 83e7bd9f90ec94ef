"""The states of a worker, the three roles, and which state may follow which."""

from enum import StrEnum


class Role(StrEnum):
    """What a worker is for."""

    FETCHER = "fetcher"  # asks, and judges the answer
    CRAWLER = "crawler"  # reads pages, and pushes the links on them
    WORKER = "worker"  # does the slow rest: saving, recording


class WorkerState(StrEnum):
    """What a worker is doing."""

    IDLE = "idle"  # not started yet
    WAITING = "waiting"  # for something to do
    BEFORE_WORK = "before work"  # has got something, and is about to begin
    WORKING = "working"  # on what is neither asking nor pushing
    DOWNLOADING = "downloading"  # a fetcher asks
    DOWNLOADED = "downloaded"  # and has its answer
    PUSHING = "pushing"  # hands on what it has made or found
    PUSHED = "pushed"  # and has done so
    PUSH_BUFFER = "push buffer"  # holds links back, or lets them go on: no room
    SLEEPING = "sleeping"  # has finished one cycle
    DIED = "died"  # by an exception; another takes its place
    STOPPED = "stopped"  # the run is over, or was ended


_S = WorkerState
_ENDS = {_S.DIED, _S.STOPPED}  # which may come at any moment

# The cycle of a fetcher: waiting, before work, downloading, downloaded, maybe pushing
# and pushed, sleeping. Of a crawler: waiting, before work, working, pushing, maybe push
# buffer, pushed, sleeping. Of a worker: waiting, before work, working, sleeping.
# What else the seed's own cycles need is legal too.
LEGAL: dict[WorkerState, frozenset[WorkerState]] = {
    state: frozenset(following | (_ENDS if state not in _ENDS else set()))
    for state, following in {
        _S.IDLE: {_S.WAITING},
        _S.WAITING: {_S.BEFORE_WORK, _S.PUSH_BUFFER},
        _S.BEFORE_WORK: {_S.WORKING, _S.DOWNLOADING},
        _S.WORKING: {_S.DOWNLOADING, _S.PUSHING, _S.PUSH_BUFFER, _S.SLEEPING},
        _S.DOWNLOADING: {_S.DOWNLOADED},
        _S.DOWNLOADED: {_S.PUSHING, _S.SLEEPING},
        _S.PUSHING: {_S.PUSHED, _S.PUSH_BUFFER},
        _S.PUSH_BUFFER: {_S.WAITING, _S.BEFORE_WORK, _S.PUSHED, _S.SLEEPING},
        _S.PUSHED: {_S.PUSH_BUFFER, _S.SLEEPING},
        _S.SLEEPING: {_S.WAITING},
        _S.DIED: set[WorkerState](),
        _S.STOPPED: set[WorkerState](),
    }.items()
}
