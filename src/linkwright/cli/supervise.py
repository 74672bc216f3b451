"""A process around every command, so that Ctrl-C ends it within a second, even inside a library.

The command runs in a child process, forked before anything heavy is loaded. The parent only waits:
after Ctrl-C it gives the child a moment to save its results and to end by itself, then ends it.
Files are replaced as a whole, so an older one is never damaged.
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
from pathlib import Path
from types import FrameType

from ..processes import end_with_parent

INTERRUPT_GRACE_SECONDS = 0.8
"""Seconds that a child has to save what it has and to end by itself after Ctrl-C."""

_POLL_SECONDS = 0.01
_MAX_PATH_BYTES = 4096
"""Bytes of a file's name that a pipe takes at once."""


@dataclass
class _CommandProcess:
    """The pipe of a child process to its parent, and the file that it writes after Ctrl-C."""

    pipe: int | None = None
    target: Path | None = None
    explanation: str = ""


_EXPLANATION = b"\0"
"""Begins a sentence in the pipe; no file's name does."""

_EXPLAINED = b"\0\0"
"""Says in the pipe that nothing is left to explain."""

_this_child = _CommandProcess()


def supervise_command(command: Callable[[], None]) -> None:
    """Runs the command in a child process and exits with its status; without `fork`, runs it
    here."""
    is_program = sys.stdout is sys.__stdout__  # output redirected inside of Python stays here
    if not hasattr(os, "fork") or not is_program:
        command()
        return
    reader, writer = os.pipe()
    _flush_console_output()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _this_child.pipe = writer
        _run_child_command(command)
    os.close(writer)
    _exit_with_command_status(_wait_for_child(child, reader))


def save_command_on_interrupt(target: Path) -> None:
    """Tells the parent which file this command writes after Ctrl-C."""
    _this_child.target = target.absolute()


def explain_interrupt(text: str) -> None:
    """Tells the parent what to say if Ctrl-C ends this command before it can say it itself."""
    _this_child.explanation = text


def note_explanation() -> None:
    """Tells the parent that this command has said it itself."""
    if _this_child.pipe is not None:
        os.write(_this_child.pipe, _EXPLAINED)


def _run_child_command(command: Callable[[], None]) -> None:
    """Runs the command in the child and exits with its status; never returns."""
    end_with_parent()
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, _handle_command_interrupt)
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
        _flush_console_output()
        os._exit(status)


def _handle_command_interrupt(number: int, frame: FrameType | None) -> None:
    """Tells the parent about the file to write, and ignores further interrupts; the parent limits
    the time."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _this_child.target is not None and _this_child.pipe is not None:
        os.write(_this_child.pipe, os.fsencode(_this_child.target))
    elif _this_child.explanation and _this_child.pipe is not None:
        os.write(_this_child.pipe, _EXPLANATION + _this_child.explanation.encode())
    raise KeyboardInterrupt


def _wait_for_child(child: int, saving: int) -> int:
    """Waits for the child and returns its status; 128 + n if signal n ended it."""
    try:
        return _command_exit_status(os.waitpid(child, 0)[1])
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    _send_command_signal(
        child, signal.SIGINT
    )  # a terminal has told the child too, which then ignores it
    end = time.monotonic() + INTERRUPT_GRACE_SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return _command_exit_status(status)
        time.sleep(_POLL_SECONDS)
    _send_command_signal(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if sys.stderr.isatty():
        sys.stderr.write("\x1b[?25h")  # a progress bar hides the cursor
    print(f"linkwright: interrupted{_unwritten_file_message(child, saving)}", file=sys.stderr)
    return 130


def _unwritten_file_message(child: int, saving: int) -> str:
    """The message about a file that the child could not write in time; removes its partial file."""
    target = os.read(saving, _MAX_PATH_BYTES) if select.select([saving], [], [], 0)[0] else b""
    if not target or target.endswith(_EXPLAINED):
        return ""
    if target.startswith(_EXPLANATION):
        return f"; {target[1:].decode(errors='replace')}"
    path = Path(os.fsdecode(target))
    with contextlib.suppress(OSError):
        for begun in path.parent.glob(f".*.{child}.part"):
            begun.unlink()
    return f"; {path.name} was not written: that takes longer than a second (.nc is the fastest)"


def _command_exit_status(waited: int) -> int:
    """The exit status of a waited process; 128 + n if signal n ended it."""
    code = os.waitstatus_to_exitcode(waited)
    return code if code >= 0 else 128 - code


def _send_command_signal(process: int, number: int) -> None:
    """Sends a signal to a process that may have ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def _exit_with_command_status(status: int) -> None:
    """Exits with the status of the child, and reports a signal that ended it."""
    if status > 128 and status != 130:
        name = signal.Signals(status - 128).name
        why = ", probably for lack of memory" if name == "SIGKILL" else ""
        print(f"linkwright: the process was ended by {name}{why}", file=sys.stderr)
    os._exit(status)


def _flush_console_output() -> None:
    """Flushes standard output and standard error, where they are open."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            if stream is not None:
                stream.flush()
