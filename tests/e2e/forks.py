"""The command line in a process that is forked with all of Ronda loaded.

It is the same from its arguments to its exit code, but starts in no time: most of a
command's second is Python loading modules. A run that is about the start itself, by
what stands before it or by what Python reads there, is started as people do.
"""

import io
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import coverage

import ronda
from e2e.command import SECONDS, Command, Ended, environment


def _modules() -> Iterator[str]:
    """All that a command may load, but what runs as it is loaded."""
    package = Path(ronda.__file__).parent
    for file in sorted(package.rglob("*.py")):
        *parents, name = file.relative_to(package.parent).with_suffix("").parts
        if name != "__main__" and "migrations" not in parents:
            yield ".".join(parents if name == "__init__" else [*parents, name])


_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["e2e.forks", *_modules()])
# What is read when Python starts, and not again.
AT_THE_START = ("PYTHON", "LD_", "LANG", "LC_", "TZ", "COVERAGE")


class Forked(Command):
    """`ronda` in a folder, which is its HOME too."""

    def __call__(
        self,
        *arguments: str,
        stdin: bytes = b"",
        env: dict[str, str] | None = None,
        prefix: tuple[str, ...] = (),
    ) -> Ended:
        """Run it to its end."""
        if prefix or any(name.startswith(AT_THE_START) for name in env or ()):
            return super().__call__(*arguments, stdin=stdin, env=env, prefix=prefix)
        with tempfile.TemporaryDirectory() as name:
            files = [Path(name, stream) for stream in ("in", "out", "err")]
            files[0].write_bytes(stdin)
            surroundings = environment(self.folder, **(env or {}))
            process = _context.Process(
                target=_run, args=(arguments, self.folder, surroundings, files)
            )
            process.start()
            process.join(SECONDS)
            assert process.exitcode is not None, "it hangs"
            _, out, err = files
            return Ended(
                code=process.exitcode,
                out=out.read_bytes().decode(),
                err=err.read_bytes().decode(errors="replace"),
            )


def _run(
    arguments: Sequence[str],
    folder: Path,
    surroundings: dict[str, str],
    files: Sequence[Path],
) -> None:
    from ronda import __main__  # noqa: PLC0415  # what `-m` would run

    modes = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    for number, (file, mode) in enumerate(zip(files, modes, strict=True)):
        os.dup2(os.open(file, mode), number)
    sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb", closefd=False))
    sys.stderr = io.TextIOWrapper(
        os.fdopen(2, "wb", closefd=False),
        errors="backslashreplace",
        line_buffering=True,
    )
    sys.modules["__main__"] = __main__
    sys.argv = [__main__.__file__, *arguments]
    os.environ.clear()
    os.environ.update(surroundings)
    os.chdir(folder)
    try:
        __main__.main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    else:
        code = 0
    sys.stdout.flush()
    sys.stderr.flush()
    if measured := coverage.Coverage.current():
        measured.stop()
        measured.save()
    os._exit(code)
