"""The studio's server: bound to 127.0.0.1 only, with a random token in its address."""

from __future__ import annotations

import contextlib
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

from ..errors import LinkwrightError, MissingExtraError

HOST = "127.0.0.1"
_TOKEN_BYTES, _WAITING_CONNECTIONS = 24, 128


@dataclass(frozen=True)
class StudioAddress:
    """Where a studio is: the port on 127.0.0.1, and the token."""

    port: int
    token: str

    @property
    def url(self) -> str:
        """The address for a browser."""
        return f"http://{HOST}:{self.port}/{self.token}/"


def serve_studio(
    source: str,
    *,
    base: str | None = None,
    closure: float | None = None,
    port: int = 0,
    ready: Callable[[StudioAddress], None] = lambda address: None,
) -> None:
    """Serve the page of a mechanism file on 127.0.0.1 until Ctrl-C.

    Parameters
    ----------
    source : str
        The file, or the name of a gallery mechanism.
    base, closure : str and float, optional
        As for `load`.
    port : int
        The port (default: a free one).
    ready : function, optional
        Called with the address when the studio can be opened.
    """
    try:
        import starlette as _starlette  # noqa: F401
        import uvicorn
        import watchfiles as _watchfiles  # noqa: F401
        import websockets as _websockets  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            f"the studio needs {error.name}", remedy="install linkwright[studio]"
        ) from None
    from .studio_app import StudioApplication
    from .studio_hub import StudioHub

    class StudioServer(uvicorn.Server):  # type: ignore[misc]
        """A server that ends at the first Ctrl-C without a message."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            self.should_exit = True

    with contextlib.closing(_listening_socket(port)) as listening:
        address = StudioAddress(listening.getsockname()[1], secrets.token_urlsafe(_TOKEN_BYTES))
        application = StudioApplication(
            StudioHub(source, base, closure), address.port, address.token
        )
        config = uvicorn.Config(
            application.starlette(),
            log_level="critical",
            access_log=False,
            lifespan="on",
            ws="websockets-sansio",
            ws_max_size=1 << 20,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        ready(address)
        StudioServer(config).run(sockets=[listening])


def _listening_socket(port: int) -> socket.socket:
    """A socket bound to 127.0.0.1."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
        found.listen(_WAITING_CONNECTIONS)  # so that the address can be opened at once
    except OverflowError:
        raise LinkwrightError(f"{port} is not a port", remedy="give 0 to 65535") from None
    except OSError as error:
        found.close()
        raise LinkwrightError(
            f"port {port} cannot be used: {error.strerror}", remedy="give another, or none"
        ) from None
    return found
