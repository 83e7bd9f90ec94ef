"""Third parties' schemes, installed as a package that only PYTHONPATH knows."""

from pathlib import Path

MODULE = '''
import ronda.model as model


class Said:
    """said://h/STATE: returns the state that the path names."""

    def allow(self, url):
        return not url.startswith("said://forbidden")

    def classify(self, url):
        return "said"

    def check(self, url):
        state = url.rpartition("/")[2].replace("_", " ")
        return (None if state == "None" else state), "the plug-in's own words"


class Odd(Said):
    """odd://h/KIND: fails in the way the path names."""

    def check(self, url):
        match url.rpartition("/")[2]:
            case "raises":
                raise RuntimeError("it broke")
            case "no-pair":
                return 7
            case "no-words":
                return "ok", None
            case "number":
                return "ok", 7
            case "list":
                return ["ok"], "words"


class Whole:
    """whole://h/STEP: a handler that raises in the step its path names."""

    def _step(self, url, name):
        if url.endswith(name):
            raise RuntimeError("it broke in " + name)

    def allow(self, url):
        self._step(url, "allow")
        return True

    def classify(self, url):
        self._step(url, "classify")
        return "class:whole"

    def begin(self, target):
        self._step(target.url, "begin")
        return model.Request("file:///", "GET")

    def advance(self, visit, answer, now):
        self._step(visit.target.url, "advance")
        return model.Done(model.Verdict(model.State.OK, "plugin", "well"))
'''
POINTS = """[ronda.schemes]
said = odd_schemes:Said
odd = odd_schemes:Odd
whole = odd_schemes:Whole
gone = odd_schemes:NotThere
"""


def install(folder: Path) -> str:
    """Write the package; what PYTHONPATH must be."""
    facts = folder / "odd_schemes-1.0.dist-info"
    facts.mkdir(parents=True)
    (folder / "odd_schemes.py").write_text(MODULE)
    (facts / "entry_points.txt").write_text(POINTS)
    (facts / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: odd-schemes\nVersion: 1.0\n"
    )
    return str(folder)
