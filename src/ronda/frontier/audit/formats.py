"""The formats of access logs, in nginx's notation, as regular expressions."""

import re
from itertools import pairwise

from msgspec import Struct

from ronda.errors import UsageError
from ronda.urls import shown

_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
# Within quotes, servers write a quote as \" or \x22: it does not end the text. Nothing
# is ever tried twice (++ and (?>…) do not go back), so a line takes linear time.
_QUOTED = r'((?:[^"\\]++|\\.)*+){after}'
_PLAIN = r"(?>(.*?){after})"


class LogFormat(Struct, frozen=True):
    """How the lines of a log are to be read."""

    text: str  # in nginx's notation
    pattern: re.Pattern[str]
    names: tuple[str, ...]  # of the variables, in their order

    @classmethod
    def parse(cls, text: str) -> "LogFormat":
        """Read a format such as `$remote_addr [$time_local] "$request"`.

        Raises:
            UsageError: it names no variable, or cannot tell where one ends.
        """
        # With two groups, split() gives: literal, braced, bare, literal, braced, …
        parts = _VARIABLE.split(text)
        pairs = zip(parts[1::3], parts[2::3], strict=True)
        names = [braced or bare for braced, bare in pairs]
        literals = parts[0::3]
        if not names:
            raise UsageError(f"--log-format '{shown(text)}' names no $variable")
        for i, literal in enumerate(literals[1:-1]):
            if not literal:
                pair = f"${names[i]} and ${names[i + 1]}"
                raise UsageError(f"--log-format: nothing stands between {pair}")
        return cls(text, re.compile(_expression(literals), re.DOTALL), tuple(names))

    def fields(self, line: str) -> dict[str, str] | None:
        """The variables of a line; None when it is not of this format."""
        found = self.pattern.fullmatch(line)
        return dict(zip(self.names, found.groups(), strict=True)) if found else None


def _expression(literals: list[str]) -> str:
    """Each variable ends where the literal after it begins; the last at the end."""
    found = re.escape(literals[0])
    for before, after in pairwise(literals):
        quoted = before.endswith('"') and after.startswith('"')
        shape = (_QUOTED if quoted else _PLAIN) if after else "(.*)"
        found += shape.replace("{after}", re.escape(after))
    return found


_COMMON = '$remote_addr $ident $remote_user [$time_local] "$request" $status '
_COMBINED = f'{_COMMON}$body_bytes_sent "$http_referer" "$http_user_agent"$more'
# What servers write unless told otherwise; many add something at the end. The first
# that a line matches is taken, so the one that asks for most stands first.
KNOWN = {
    "audit": LogFormat.parse(
        "$msec $remote_addr $server_addr $host "
        '"$request" $status $request_time "$http_user_agent"'
    ),
    "vhost_combined": LogFormat.parse(f"$server_name:$server_port {_COMBINED}"),
    "combined": LogFormat.parse(_COMBINED),
    "common": LogFormat.parse(f"{_COMMON}$body_bytes_sent"),
}
