"""Ctrl-C ends every command within a second, also while a library computes and hears nothing.

The command runs in a child process, forked before anything heavy is loaded. The parent only waits:
after Ctrl-C it gives the child a moment to end by itself, then ends it. A run that is being saved
is left to finish in the background. Files are replaced whole, so an older one is never damaged.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

from ..processes import end_with_parent, outlive_parent

GRACE = 0.6
"""Seconds that a child has to end by itself after Ctrl-C."""

_PAUSE = 0.01


@dataclass
class _Child:
    """What a child knows: the pipe to its parent, and whether Ctrl-C lets it save what it has."""

    pipe: int | None = None
    saves: bool = False


_child = _Child()


def supervise(command: Callable[[], None]) -> None:
    """Runs the command in a child process and exits with its status; returns where it cannot."""
    is_program = sys.stdout is sys.__stdout__  # output redirected inside of Python stays here
    if not hasattr(os, "fork") or not is_program:
        command()
        return
    reader, writer = os.pipe()
    _flush()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _child.pipe = writer
        _run(command)
    os.close(writer)
    _exit_as(_wait(child, reader))


def save_when_interrupted() -> None:
    """From now on Ctrl-C lets this command save what it has, in the background if need be."""
    _child.saves = True


def _run(command: Callable[[], None]) -> None:
    """The child: the command, and its status; never returns."""
    end_with_parent()
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt_once)
    status = 1
    try:
        command()
        status = 0
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except KeyboardInterrupt:
        status = 130
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        _flush()
        os._exit(status)


def _interrupt_once(number: int, frame: FrameType | None) -> None:
    """The second Ctrl-C does not disturb the child while it ends; the parent limits its time."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _child.saves and _child.pipe is not None:
        outlive_parent()
        signal.signal(signal.SIGUSR1, _let_go_of_terminal)
        os.write(_child.pipe, b"s")
    raise KeyboardInterrupt


def _let_go_of_terminal(number: int, frame: FrameType | None) -> None:
    """The parent has left: nobody waits for what is printed."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def _wait(child: int, saving: int) -> int:
    """The child's status; 128 + n where signal n ended it."""
    try:
        return _status(os.waitpid(child, 0)[1])
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    _send(child, signal.SIGINT)  # a terminal has told the child too, which then ignores it
    end = time.monotonic() + GRACE
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return _status(status)
        time.sleep(_PAUSE)
    if select.select([saving], [], [], 0)[0] and os.read(saving, 1):
        _send(child, signal.SIGUSR1)
        print("linkwright: interrupted; what was computed is still being written", file=sys.stderr)
        return 130
    _send(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if sys.stderr.isatty():
        sys.stderr.write("\x1b[?25h")  # a progress bar hides the cursor
    print("linkwright: interrupted", file=sys.stderr)
    return 130


def _status(waited: int) -> int:
    code = os.waitstatus_to_exitcode(waited)
    return code if code >= 0 else 128 - code


def _send(process: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def _exit_as(status: int) -> None:
    if status > 128 and status != 130:
        name = signal.Signals(status - 128).name
        why = ", probably for lack of memory" if name == "SIGKILL" else ""
        print(f"linkwright: the process was ended by {name}{why}", file=sys.stderr)
    os._exit(status)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            if stream is not None:
                stream.flush()
