"""A process that has loaded the command line, and forks a copy of itself for each command.

Loading takes a second of processor time, most of what a command takes. The server has loaded the
modules and done nothing else, so a copy is in the state of a command that has just started. It has
the caller's arguments, folder, environment and open files.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import socket
import sys
import traceback
from typing import NoReturn

LENGTH = 1 << 20
"""Bytes that a request may have: arguments, folder and environment."""


def serve(descriptor: int) -> None:
    """Answers each request with the exit status of its command, until the other side closes."""
    _load()
    gc.freeze()  # so that collections in copies do not touch, and thereby copy, what is loaded
    with socket.socket(fileno=descriptor) as requests:
        requests.send(b"ready")
        while True:
            content, files, _, _ = socket.recv_fds(requests, LENGTH, 3)
            if not content:
                return
            child = os.fork()
            if child == 0:
                requests.close()
                _run(json.loads(content), files)
            for file in files:
                os.close(file)
            _, status = os.waitpid(child, 0)
            requests.send(str(os.waitstatus_to_exitcode(status)).encode())


def _load() -> None:
    """All modules of the package; those for which an optional package is missing are left out."""
    import linkwright

    for module in pkgutil.walk_packages(linkwright.__path__, "linkwright."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)


def _run(request: dict[str, object], files: list[int]) -> NoReturn:
    """One command, as a program of its own."""
    for place, file in enumerate(files):
        os.dup2(file, place)
        os.close(file)
    os.chdir(str(request["cwd"]))
    os.environ.clear()
    os.environ.update(request["env"])  # type: ignore[call-overload]
    sys.argv = ["-c", *request["words"]]  # type: ignore[misc]
    status = 1
    try:
        from linkwright.cli import main

        main()
        status = 0
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
