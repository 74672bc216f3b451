"""The state of a studio: the file as it was last read, results, and the pages that get them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from pathlib import Path

from ..errors import LinkwrightError
from ..mechanism import Mechanism
from ..processes.timed_worker import TimedWorkerProcess
from .studio_requests import make_studio_job
from .studio_tasks import (
    StudioFile,
    StudioProblem,
    missing_file_problem,
    read_studio_file,
)
from .work_lanes import StudioJob, WorkLane

_READ_SECONDS = 600.0
"""Processor time that reading the file and drawing its scene may take."""
_CLOSE_SECONDS = 0.4
"""How long the end of the worker processes is waited for."""
_MAX_WAITING_MESSAGES = 200
"""Messages that a page may leave unread before it is dropped."""
_LANES = {
    "file": "file",
    "equations": "equations",
    "own": "own",
    "checks": "long",
    "simulation": "long",
    "formulations": "long",
}
"""The lane that does each kind of job: what is quick never waits for what is long."""


class StudioHub:
    """The opened file, its results and the connected pages; all of it is used from the event
    loop, except `publish`."""

    def __init__(self, source: str, base: str | None = None, closure: float | None = None) -> None:
        self.source, self.base, self.closure = source, base, closure
        self.path = Path(source) if Path(source).suffix else None
        self.version = 0
        self.reads = 0
        self._mechanism: Mechanism | None = None
        self._shown: dict[str, object] = {}
        self._problem: dict[str, object] | None = None
        self._results: dict[str, Mapping[str, object]] = {}
        self._pages: set[asyncio.Queue[str | None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._content: bytes | None = None
        self._lanes: dict[str, WorkLane] = {}

    # -- life -----------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin in the running event loop, and read the file."""
        self._loop = asyncio.get_running_loop()
        self._lanes = {name: WorkLane(name, self.publish) for name in set(_LANES.values())}
        self.read_file()

    def close(self) -> None:
        """End all work."""
        for lane in self._lanes.values():
            lane.close()
        end = time.monotonic() + _CLOSE_SECONDS
        for lane in self._lanes.values():  # so that no dead process is left
            lane.join(max(0.0, end - time.monotonic()))

    # -- the file -------------------------------------------------------------------------------

    def read_file(self) -> None:
        """Read the file again if its content changed; say so if it is gone."""
        if self.path is not None:
            try:
                content = self.path.read_bytes()
            except OSError:
                self._content = None
                self._show_problem(missing_file_problem(self.path))
                return
            if content == self._content:
                return
            self._content = content
        self.reads += 1
        job = StudioJob("file", f"file {self.reads}", self._read_work, retry=True)
        self._lanes["file"].ask(job)

    def _read_work(self, worker: TimedWorkerProcess, report: object) -> Mapping[str, object]:
        """Reads the file in the worker; called in the lane's thread."""
        found = worker.call_within(
            read_studio_file, self.source, self.base, self.closure, seconds=_READ_SECONDS
        )
        return {"found": found}

    def _file_was_read(self, found: object) -> None:
        is_gone = self.path is not None and self._content is None  # while it was being read
        gone = missing_file_problem(self.path) if self.path is not None and is_gone else None
        if isinstance(found, StudioProblem):
            self._show_problem(gone or found)
            return
        assert isinstance(found, StudioFile)
        self.version += 1
        self._mechanism, self._results = found.mechanism, {}
        self._problem = gone.data() if gone is not None else None
        scene = json.loads(found.scene)
        self._shown = {"type": "file", "version": self.version, "scene": scene, **found.facts}
        self._tell({**self._shown, "problem": self._problem})

    def _show_problem(self, problem: StudioProblem) -> None:
        """Shows an error of the file; the last good state stays."""
        self._problem = problem.data()
        self._tell({"type": "problem", "problem": self._problem})

    # -- pages ----------------------------------------------------------------------------------

    def connect(self) -> asyncio.Queue[str | None]:
        """A queue of messages for a page: what is known first."""
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._pages.add(queue)
        if self._shown:
            queue.put_nowait(json.dumps({**self._shown, "problem": self._problem}))
        elif self._problem is not None:
            queue.put_nowait(json.dumps({"type": "problem", "problem": self._problem}))
        return queue

    def disconnect(self, queue: asyncio.Queue[str | None]) -> None:
        """Forget a page."""
        self._pages.discard(queue)

    def receive(self, queue: asyncio.Queue[str | None], text: str) -> None:
        """Do what a page asks for; what is not understood is answered with a sentence."""
        try:
            self._receive_checked(queue, json.loads(text))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            said = str(error) if isinstance(error, LinkwrightError) else "not understood"
            queue.put_nowait(json.dumps({"type": "refused", "error": said}))

    def _receive_checked(self, queue: asyncio.Queue[str | None], message: object) -> None:
        if not isinstance(message, dict):
            raise TypeError
        if "cancel" in message:
            for lane in self._lanes.values():
                lane.cancel(str(message["cancel"]))
            return
        kind, options = str(message["ask"]), message.get("options", {})
        if self._mechanism is None or not isinstance(options, dict):
            return
        job = make_studio_job(kind, options, self._mechanism, self.version, self._file_words())
        answer = {
            "type": "accepted",
            "kind": kind,
            "request": message.get("request"),
            "key": job.key,
        }
        queue.put_nowait(json.dumps(answer))
        if job.key in self._results:
            queue.put_nowait(json.dumps(self._results[job.key]))
            return
        self._lanes[_LANES[kind]].ask(job)

    def _file_words(self) -> str:
        return self.path.name if self.path else self.source

    def publish(self, message: Mapping[str, object]) -> None:
        """Take the state of a job from the thread of its lane."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._take, message)

    def _take(self, message: Mapping[str, object]) -> None:
        if message["kind"] == "file":
            if message["state"] == "done":
                self._file_was_read(message["found"])
            elif message["state"] == "failed":
                self._show_problem(
                    StudioProblem(str(message["error"]), self._file_words(), "save it again", None)
                )
            else:
                self._tell({"type": "reading", "state": message["state"]})
            return
        if message["state"] == "done":
            self._results[str(message["key"])] = message
        self._tell(message)

    def _tell(self, message: Mapping[str, object]) -> None:
        """Sends a message to all pages; one that does not read is dropped."""
        text = json.dumps(message)
        for queue in list(self._pages):
            if queue.qsize() > _MAX_WAITING_MESSAGES:
                self._pages.discard(queue)
                queue.put_nowait(None)
            else:
                queue.put_nowait(text)
