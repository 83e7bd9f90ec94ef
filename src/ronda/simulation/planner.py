"""A round simulated on all cores: the answer to whoever plans it."""

from collections.abc import Iterator

from ronda.simulation.forecast import Forecast, Progress, Question, merged
from ronda.simulation.processes import share_out
from ronda.simulation.share import simulate


def foretell(question: Question) -> Iterator[Progress | Forecast]:
    """Simulate a round, shared out by server; its progress, and at last the forecast.

    Hosts of one server stay together, so politeness needs no agreement. Each process
    has its share of the workers; a redirect leads to a host of the same share.
    """
    count = question.processes
    far = [Progress(0, 0, 0.0)] * count
    parts = []
    shares = [(question, part) for part in range(count)]
    for number, told in share_out(simulate, shares):
        if isinstance(told, Forecast):
            parts.append(told)
        else:
            far[number] = told
            yield Progress(
                sum(one.read for one in far),
                sum(one.done for one in far),
                max(one.seconds for one in far),
            )
    yield merged(parts)
