"""Running the service with uvicorn: one process, which ends what it has begun when it is told to stop."""

import asyncio
import logging
import socket
from collections.abc import Callable

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from seqloom.errors import UsageError
from seqloom.server.app import build_app
from seqloom.server.settings import Settings

_HEADER_SECONDS = 10.0
"""A client that takes longer to say what it wants is hung up on."""
_HEADER_BYTES = 64 << 10
_KEEP_ALIVE = 30
_BACKLOG = 2048


class PatientProtocol(HttpToolsProtocol):
    """uvicorn's own, with limits on how long the head of a request may take and be: it has none.

    httptools reads requests in C; h11, in Python, takes 0.25 ms for each, and more than all the rest of a refusal.
    """

    _timer: asyncio.TimerHandle | None = None
    _head = 0
    """How many bytes have come of a head that is not whole."""
    _in_head = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        connection = transport.get_extra_info("socket")
        if connection is not None:
            # A head and its short body are two writes. Held back until the first is acknowledged, the second comes 40 ms late;
            # asyncio sets this only for sockets whose protocol was named, and accepted ones have none.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._timer = self.loop.call_later(_HEADER_SECONDS, self._give_up)

    def data_received(self, data: bytes) -> None:
        """Go on waiting, unless the head is there."""
        super().data_received(data)
        if not self._in_head:
            self._stop_waiting()
            return
        self._head += len(data)
        if self._head > _HEADER_BYTES:
            self._give_up()
        elif self._timer is None:
            self._timer = self.loop.call_later(_HEADER_SECONDS, self._give_up)

    def on_message_begin(self) -> None:
        """A head begins."""
        self._in_head, self._head = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._in_head = False
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """There is nothing to wait for any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            self.transport.close()


def serve(settings: Settings, *, verbose: bool = False, started: Callable[[str], None]) -> None:
    """Serve until told to stop. started: is told the address when requests are taken. verbose: log every request."""
    logging.basicConfig(format="%(levelname)s %(message)s", level=logging.WARNING)
    logging.getLogger("seqloom.server").setLevel(logging.INFO if verbose else logging.WARNING)
    app = build_app(settings)
    with _listening(settings) as listener:
        host, port = listener.getsockname()[:2]
        config = uvicorn.Config(
            app,
            http=PatientProtocol,
            loop="asyncio",  # uvloop was measured: no less processor time here
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=int(settings.limits.seconds) + 5,
            backlog=_BACKLOG,
        )
        started(f"http://{f'[{host}]' if ':' in host else host}:{port}/")
        uvicorn.Server(config).run(sockets=[listener])


def _listening(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=_BACKLOG)
    except OSError as problem:
        raise UsageError(
            f"cannot listen at {settings.host}, port {settings.port}: {problem.strerror or problem}. Choose another --port"
        ) from problem
