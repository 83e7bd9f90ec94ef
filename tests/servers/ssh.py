"""OpenSSH's server on loopback, for sftp with a key."""

import getpass
import os
import subprocess
from pathlib import Path
from typing import Self

from servers.process import HOST, ServerProcess, require

OPTIONS = (
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    "PubkeyAuthentication yes",
    "PermitRootLogin prohibit-password",
    "StrictModes no",  # the keys are in a temporary folder
    "UsePAM no",
    "UseDNS no",
    "MaxStartups 100",
    "PrintMotd no",
    "Subsystem sftp internal-sftp",
)
HELLO = "hello from sftp\n"


class Ssh:
    """sshd for the current `user` with the private `key`; `files` is what it serves."""

    def __init__(self, folder: Path) -> None:
        self._program = require("sshd")
        self._folder = folder
        self._process = ServerProcess(self._command, log=folder / "sshd.log")
        self._host_key = self._generate("host_key")
        self.user = getpass.getuser()
        self.key = self._generate("key")
        self.public_key = self.key.with_suffix(".pub")
        self.known_hosts = folder / "known_hosts"
        self.files = folder / "files"
        self.port = 0
        (self.files / "folder").mkdir(parents=True)
        (self.files / "hello.txt").write_text(HELLO)

    def url(self, path: str = "/hello.txt", *, host: str = HOST) -> str:
        """The sftp URL of a file in `files`."""
        return f"sftp://{self.user}@{host}:{self.port}{self.files}{path}"

    def __enter__(self) -> Self:
        if os.geteuid() == 0:
            # Where sshd locks its unprivileged part in; Debian makes it at boot.
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        [self.port] = self._process.start()
        kind, key, *_ = self._host_key.with_suffix(".pub").read_text().split()
        self.known_hosts.write_text(f"[{HOST}]:{self.port} {kind} {key}\n")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stop()

    def _generate(self, name: str) -> Path:
        key = self._folder / name
        command = [require("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", name]
        subprocess.run([*command, "-f", str(key)], check=True)
        return key

    def _command(self, ports: list[int]) -> list[str]:
        configuration = self._folder / "sshd_config"
        options = [
            *OPTIONS,
            f"ListenAddress {HOST}:{ports[0]}",
            f"HostKey {self._host_key}",
            f"AuthorizedKeysFile {self.public_key}",
            f"PidFile {self._folder / 'sshd.pid'}",
            f"AllowUsers {self.user}",
        ]
        # From 9.8 on it shuts out an address after failed logins; older ones have no
        # such option and refuse to start with it.
        lenient = "PerSourcePenalties no"
        for tried in ([*options, lenient], options):
            configuration.write_text("\n".join(tried) + "\n")
            test = [self._program, "-t", "-f", str(configuration)]
            if subprocess.run(test, check=False, capture_output=True).returncode == 0:
                break
        return [self._program, "-D", "-e", "-f", str(configuration)]
