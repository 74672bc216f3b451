"""The studio as a web application: one page, its script, and a socket; nothing else is served.

Every address begins with a random token. Requests for other hosts are refused, so that a name that
points here (DNS rebinding) reads nothing, and sockets of other origins, so that other pages cannot
speak with the studio.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from collections.abc import AsyncIterator
from importlib.resources import files

from markupsafe import Markup
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from ..formulations import FORMULATIONS
from ..live import script_hash, viewer_script, viewer_style
from ..report.rendering import read_page_asset, render_template
from ..report.report_page import page_font_style
from .file_watch import watch_file
from .studio_hub import StudioHub
from .studio_requests import MAX_MESSAGE

_POLICY_CLOSED = 1008
"""The code with which a socket is closed that must not be open."""
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class StudioApplication:
    """The page and the socket of one studio at one port with one token."""

    def __init__(self, hub: StudioHub, port: int, token: str) -> None:
        self.hub, self.port, self.token = hub, port, token
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.origins = {f"http://{host}" for host in self.hosts}
        self.page, self.policy = studio_page(port)

    def starlette(self) -> Starlette:
        """Return the application for a server."""
        routes = [
            Route("/{token}", self.add_slash),
            Route("/{token}/", self.show_page),
            WebSocketRoute("/{token}/socket", self.talk),
        ]
        handlers = {404: self.refuse, 405: self.refuse}
        found = Starlette(routes=routes, lifespan=self.lifespan, exception_handlers=handlers)
        found.router.redirect_slashes = False  # it would redirect to whatever host is asked for
        return found

    @contextlib.asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Read and watch the file while the server runs."""
        self.hub.start()
        watching = asyncio.create_task(watch_file(self.hub.path, self.hub.read_file))
        try:
            yield
        finally:
            watching.cancel()
            self.hub.close()

    def is_allowed(self, connection: HTTPConnection) -> bool:
        """Whether a request is for this host and has the token."""
        given = connection.path_params.get("token", "")
        right = hmac.compare_digest(given.encode(), self.token.encode())
        return connection.headers.get("host", "") in self.hosts and right

    async def refuse(self, request: Request, error: Exception) -> Response:
        """Answer what is not served."""
        return PlainTextResponse("not found\n", 404, headers=_HEADERS)

    async def add_slash(self, request: Request) -> Response:
        """Lead somebody who left out the slash at the end of the address to the page."""
        if not self.is_allowed(request):
            return PlainTextResponse("not found\n", 404, headers=_HEADERS)
        return Response(status_code=307, headers={**_HEADERS, "Location": f"/{self.token}/"})

    async def show_page(self, request: Request) -> Response:
        """Answer with the page."""
        origin = request.headers.get("origin")
        if not self.is_allowed(request) or (origin is not None and origin not in self.origins):
            return PlainTextResponse("not found\n", 404, headers=_HEADERS)
        headers = {**_HEADERS, "Content-Security-Policy": self.policy}
        return Response(self.page, media_type="text/html; charset=utf-8", headers=headers)

    async def talk(self, socket: WebSocket) -> None:
        """Speak with one page until it goes."""
        if not self.is_allowed(socket) or socket.headers.get("origin") not in self.origins:
            await socket.close(_POLICY_CLOSED)
            return
        await socket.accept()
        queue = self.hub.connect()
        sending = asyncio.create_task(self._send_messages(socket, queue))
        try:
            while True:
                text = await socket.receive_text()
                if len(text) <= MAX_MESSAGE:
                    self.hub.receive(queue, text)
        except (WebSocketDisconnect, RuntimeError, KeyError):
            pass
        finally:
            self.hub.disconnect(queue)
            sending.cancel()

    async def _send_messages(self, socket: WebSocket, queue: asyncio.Queue[str | None]) -> None:
        """Sends what the hub tells, until it drops the page."""
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            while (text := await queue.get()) is not None:
                await socket.send_text(text)
            await socket.close(_POLICY_CLOSED)


def studio_page(port: int) -> tuple[str, str]:
    """The page, and its content security policy: its own script, and sockets to this port."""
    own = (files(__package__) / "page" / "studio.js").read_text(encoding="utf-8")
    script = viewer_script().replace("export { mountViewer };\n", "") + own
    style = (files(__package__) / "page" / "studio.css").read_text(encoding="utf-8")
    sockets = f"ws://127.0.0.1:{port} ws://localhost:{port}"
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src data: blob:; "
        f"script-src {script_hash(script)} 'wasm-unsafe-eval'; connect-src {sockets}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    page = render_template(
        "studio.html",
        formulations=FORMULATIONS,
        fonts=page_font_style(),
        styles=[read_page_asset("page.css"), Markup(viewer_style()), Markup(style)],
        script=Markup(script),
    )
    return f"{page}\n", policy
