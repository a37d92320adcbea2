"""What a server is told when it is started: where it listens, whom it answers, and how much of anything it takes."""

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seqloom.errors import UsageError


@dataclass(frozen=True)
class Limits:
    """How much of anything a server takes. Times are in seconds.

    body_bytes: of a request in all; upload_bytes: of one picture, sound or video in it. texts: inputs of a request; characters:
    of each. count: symbols or neighbours that are listed. length: of what is written, in symbols. seconds: until an answer has
    to be there, waiting included; stream_seconds: until a stream has to be over; body_seconds: until a request has to be read.
    queue: inputs that wait; streams: how many go on at once. batch: inputs that are computed together; window: how long the
    first of them waits for others, if the machine has nothing else to do.
    """

    body_bytes: int = 16 << 20
    upload_bytes: int = 8 << 20
    texts: int = 128
    characters: int = 5000
    beam: int = 50
    nbest: int = 50
    count: int = 100
    length: int = 2000
    seconds: float = 10.0
    stream_seconds: float = 60.0
    body_seconds: float = 10.0
    queue: int = 512
    streams: int = 16
    batch: int = 64
    window: float = 0.003

    def as_json(self) -> dict[str, Any]:
        """What `GET /limits` says."""
        hidden = {"batch", "window"}
        return {name: getattr(self, name) for name in Limits.__dataclass_fields__ if name not in hidden}


@dataclass(frozen=True)
class ServedModel:
    """A folder under a name. languages: codes of what it reads and writes, if its recipe does not say them."""

    name: str
    folder: Path
    languages: tuple[str, str] | None = None


@dataclass(frozen=True)
class Settings:
    """All that a server is told. hosts: names, beside the loopback's, by which it may be addressed."""

    models: tuple[ServedModel, ...]
    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    hosts: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not self.models:
            raise UsageError("serve: expected at least one run or exported model. Name its folder")
        if not is_loopback(self.host) and not self.token:
            raise UsageError(
                f"--host {self.host}: beyond this machine anybody could ask. Give a token (--token-file FILE, or the variable "
                "SEQLOOM_TOKEN), or leave --host out"
            )
        if self.token is not None and len(self.token) < SHORTEST_TOKEN:
            raise UsageError(
                f"the token has {len(self.token)} characters, and short ones can be guessed. Give one of {SHORTEST_TOKEN} or "
                "more, such as: python -c 'import secrets; print(secrets.token_urlsafe())'"
            )


SHORTEST_TOKEN = 16


def is_loopback(host: str) -> bool:
    """Whether an address or name is reached from this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_address(host: str) -> bool:
    """Whether a host is given by number, which no foreign name server can point elsewhere."""
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
