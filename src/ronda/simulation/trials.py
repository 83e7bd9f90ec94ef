"""Trials by number: small webs with much trouble, and settings of every kind."""

from random import Random

from ronda.config import Check, Crawl, Fetch, Frontier, Politeness, Settings
from ronda.simulation.stage import Trial
from ronda.simulation.traits import Traits, url

# No web is so slow that an honest round would take longer.
SECONDS = 30 * 86_400.0
STEPS = 1_000_000


def trial(seed: int) -> Trial:
    """The trial of a number: the same number, the same trial."""
    random = Random(seed)  # noqa: S311  # it must be the same again
    traits = _traits(seed, random)
    return Trial(
        traits=traits,
        settings=_settings(random),
        seeds=_seeds(traits, random),
        saves=random.random() < 0.2,
        jumps=_jumps(random),
        seconds=SECONDS,
        steps=STEPS,
    )


def _traits(seed: int, random: Random) -> Traits:
    hosts = random.randint(10, 60)
    return Traits(
        seed=seed,
        hosts=hosts,
        servers=random.randint(1, hosts),
        urls=random.randint(50, 400),
        skew=random.choice([0.0, 0.8, 1.2]),
        latency=random.choice([0.01, 0.3, 2.0]),
        errors=random.choice([0.0, 0.1, 0.3, 0.6]),
        redirects=random.choice([0.0, 0.1, 0.3]),
        restless=random.choice([0.0, 0.1, 0.5]),
        waits=random.choice([(0,), (0, 1, 5, 30), (5, 120)]),
        pages=random.choice([0.0, 0.2, 0.5]),
        links=random.choice([0, 3, 10]),
        crashes=random.choice([0.0, 0.0, 0.05]),
        hangs=random.choice([0.0, 0.0, 0.02]),
    )


def _seeds(traits: Traits, random: Random) -> tuple[str, ...]:
    """The first pages of a crawl; most trials are lists, which have none."""
    if not traits.links or random.random() < 0.6:
        return ()
    hosts = random.sample(range(traits.hosts), 3)
    return tuple(f"{url(host, page)}" for host in hosts for page in range(3))


def _settings(random: Random) -> Settings:
    return Settings(
        check=Check(
            robots=random.random() < 0.8,
            method=random.choice(["auto", "auto", "HEAD", "GET"]),
        ),
        politeness=(_politeness(random), *_special(random)),
        frontier=Frontier(
            queue_count=random.choice([2, 10, 1000]),
            queue_length=random.choice([1, 3, 100]),
            hosts_per_server=random.choice([1, 3, 100]),
            capacity=random.choice([1, 20, 1000]),
        ),
        crawl=Crawl(
            scope=random.choice(["host", "any"]),
            depth=random.choice([2, 50]),
            max_pages=random.choice([20, 1000]),
        ),
        fetch=Fetch(
            concurrency=random.choice([1, 3, 10, 50]), retries=random.randint(0, 2)
        ),
    )


def _politeness(random: Random) -> Politeness:
    """Each of them may be left to its default."""
    return Politeness(
        # So long a gap that rules and addresses are asked for again meanwhile.
        interval=random.choice([None, None, 0.0, 0.1, 1.0, 1.0, 2000.0]),
        per_host=random.choice([None, 1, 2]),
        server_interval=random.choice([None, 0.0, 0.5]),
        per_server=random.choice([None, 1, 3]),
        factor=random.choice([None, 0.0, 2.0]),
        rest=random.choice([None, 5.0]),
    )


def _special(random: Random) -> list[Politeness]:
    """Some hosts have rules of their own."""
    if random.random() < 0.5:
        return []
    gap = random.choice([0.0, 0.7])
    return [Politeness(match="h1*.example", interval=gap, server_interval=gap)]


def _jumps(random: Random) -> tuple[tuple[float, float], ...]:
    """Moments at which somebody sets the machine's clock, by hours or by days."""
    return tuple(
        (random.uniform(0, 60), random.choice([-86_400.0, -3.0, 60.0, 1e6]))
        for _ in range(random.choice([0, 0, 3]))
    )
