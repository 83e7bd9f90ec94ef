"""URLs as people watch them: hosts of all sizes, each with its own sort of paths."""

import random

from ronda.store.sql.adding import Given

WORDS = """
about access account action address advice album annual answer archive area article
artist atlas audio author award bank beach blog board book branch bridge budget
building camera campus canal career castle catalog center change chapter city class
climate coast college comment community company contact content council country
course culture current daily data dealer design detail digital district doctor
document download drama economy edition education energy engine event example
expert family feature field figure film finance flight forest forum future gallery
garden general german global grammar guide harbour health help history home hotel
house image index industry info insight institute island issue journal kitchen lake
language law lecture letter level library life link list local magazine manual map
market media member memory method mobile model museum music nature network news
notes number office online opinion order page paper park partner people phone photo
picture place plan player policy portal post press price product profile program
project public question radio reader recipe record region report research result
review river road room sample school science search season section series service
shop social society sound source space sport staff stage station story street
student studio summary support survey system talk teacher team tech theatre theory
ticket time title tool topic tour town trade traffic train travel tree university
update valley value version video village vision voice water weather web week west
wiki window winter word work world year
""".split()  # noqa: SIM905  # shorter so
ENDS = "com org net de fr pt es eu info io gov.uk ac.at edu".split()  # noqa: SIM905
BIG, MIDDLE = 50_000, 5_000  # URLs of the first host, and of some more
SCHEMES = {"https": 800, "http": 190, "ftp": 9, "sftp": 1}
LABELS = {"press": 100, "shop": 50, "docs": 20, "rare": 1}  # of a thousand hosts


def links(count: int, seed: int = 5) -> list[Given]:
    """So many different URLs; those of a host come together, as from a list."""
    chance = random.Random(seed)
    made: list[Given] = []
    number = 0
    while len(made) < count:
        made += _site(chance, number, _size(chance, number))
        number += 1
    return made[:count]


def _size(chance: random.Random, number: int) -> int:
    if number == 0:
        return BIG
    if number < 20:
        return MIDDLE
    return min(MIDDLE, int(chance.paretovariate(0.75) * 6))


def _site(chance: random.Random, number: int, size: int) -> list[Given]:
    word = chance.choice
    front = word(["www.", "www.", "", "blog.", "data."])
    name = f"{front}{word(WORDS)}{word(['-', ''])}{word(WORDS)}{number}.{word(ENDS)}"
    [scheme] = chance.choices(list(SCHEMES), list(SCHEMES.values()))
    labels = tuple(
        label for label, share in LABELS.items() if chance.random() * 1000 < share
    )
    if number == 0:
        labels = ("first",)
    style = chance.randrange(4)
    return [
        Given(
            f"{scheme}://{name}/{_path(chance, style, at)}", name, scheme, None, labels
        )
        for at in range(size)
    ]


def _path(chance: random.Random, style: int, at: int) -> str:
    one, two, three = chance.choices(WORDS, k=3)
    match style:
        case 0:
            year, month = chance.randrange(2000, 2026), chance.randrange(1, 13)
            return f"{one}/{year}/{month:02}/{two}-{three}-{at}.html"
        case 1:
            return f"{one}/{two}/index.php?id={at * 7919 % 10_000_000}"
        case 2:
            return f"{one}/{two}/{three}/{at}"
        case _:
            return f"wiki/{one.title()}_{two}_{chance.getrandbits(24):06x}{at}"
