"""A real server: the program itself, listening on the loopback."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx

TOKEN = "a-token-for-tests-only"  # noqa: S105
_PATIENCE = 120.0
"""Seconds until it has to listen: machines that run tests are busy."""


@dataclass
class LiveServer:
    """One that runs. address: with a slash at its end."""

    words: Sequence[str]
    log: Path
    token: str | None = TOKEN
    address: str = ""
    process: "subprocess.Popen[bytes]" = field(init=False)

    def start(self) -> None:
        """Start it, and wait until its first model is loaded."""
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **({"SEQLOOM_TOKEN": self.token} if self.token else {})}
        with self.log.open("wb") as log:
            command = [sys.executable, "-m", "seqloom", "serve", *self.words, "--port", "0"]
            self.process = subprocess.Popen(command, stderr=log, stdout=log, env=environment)
        until = time.monotonic() + _PATIENCE
        while not (found := re.search(r"http://\S+", self.log.read_text(encoding="utf-8"))):
            self._require_life(until)
        self.address = found[0]
        while not self._is_ready():
            self._require_life(until)

    def _is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.address}ready", timeout=10).status_code == 200
        except httpx.HTTPError:
            return False

    def _require_life(self, until: float) -> None:
        if self.process.poll() is not None or time.monotonic() > until:
            self.stop()
            raise AssertionError(self.log.read_text(encoding="utf-8"))
        time.sleep(0.05)

    def stop(self) -> int:
        """Tell it to stop, and wait for it."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)
