"""A process around every command, so that Ctrl-C ends it within a second, even inside a library.

The command runs in a child process, forked before anything heavy is loaded. The parent only waits:
after Ctrl-C, SIGTERM or SIGHUP it gives the child a moment to save its results and to end by
itself, then ends it. It says what the command has left to say, also if the child was killed.
Files are replaced as a whole, so an older one is never damaged.
"""

from __future__ import annotations

import contextlib
import json
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
_PIPE_BYTES = 1 << 16
"""Bytes that a pipe holds."""


@dataclass
class _CommandProcess:
    """The pipe of a child process to its parent, and the file that it writes after Ctrl-C."""

    pipe: int | None = None
    target: Path | None = None

    def tell(self, **words: str) -> None:
        """Tell the parent something, as a line of JSON."""
        if self.pipe is not None:
            os.write(self.pipe, json.dumps(words).encode() + b"\n")


class _TerminatedError(KeyboardInterrupt):
    """SIGTERM or SIGHUP, by its number: it ends a command as Ctrl-C does."""


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
    _exit_with_command_status(_wait_for_child(child, reader), reader)


def save_command_on_interrupt(target: Path) -> None:
    """Tells the parent which file this command writes after Ctrl-C."""
    _this_child.target = target.absolute()


def explain_ending(text: str, begun: Path | None = None) -> None:
    """Tells the parent what to say if this command is ended before it can say it itself; if a file
    is given, only if that file is there by then."""
    _this_child.tell(say=text, file="" if begun is None else str(begun.absolute()))


def note_explanation() -> None:
    """Tells the parent that this command has said it itself."""
    _this_child.tell(say="", file="")


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
    if _this_child.target is not None:
        _this_child.tell(save=str(_this_child.target))
    raise KeyboardInterrupt


def _wait_for_child(child: int, saving: int) -> int:
    """Waits for the child and returns its status; 128 + n if signal n ended it, or this process."""
    status, name = 130, "interrupted"
    _hear_termination()
    try:
        return _command_exit_status(os.waitpid(child, 0)[1])
    except _TerminatedError as signaled:
        status, name = 128 + signaled.args[0], f"ended by {_signal_name(signaled.args[0])}"
    except KeyboardInterrupt:
        pass
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _send_command_signal(
        child, signal.SIGINT
    )  # a terminal has told the child too, which then ignores it
    end = time.monotonic() + INTERRUPT_GRACE_SECONDS
    while time.monotonic() < end:
        done, waited = os.waitpid(child, os.WNOHANG)
        if done:
            return _command_exit_status(waited) if status == 130 else status
        time.sleep(_POLL_SECONDS)
    _send_command_signal(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if sys.stderr.isatty():
        sys.stderr.write("\x1b[?25h")  # a progress bar hides the cursor
    print(f"linkwright: {name}{_ending_message(child, saving)}", file=sys.stderr)
    return status


def _hear_termination() -> None:
    """Ends the command after SIGTERM and SIGHUP as after Ctrl-C; nohup ignores SIGHUP."""

    def end(number: int, frame: FrameType | None) -> None:
        raise _TerminatedError(number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, end)


def _ending_message(child: int, saving: int) -> str:
    """What a child that was ended left to say, and the message about a file that it could not write
    in time; removes its partial file."""
    said = dict[str, str]()
    if select.select([saving], [], [], 0)[0]:
        for line in os.read(saving, _PIPE_BYTES).splitlines():
            said |= json.loads(line)
    if "save" in said:
        path = Path(said["save"])
        with contextlib.suppress(OSError):
            for begun in path.parent.glob(f".*.{child}.part"):
                begun.unlink()
        return (
            f"; {path.name} was not written: that takes longer than a second (.nc is the fastest)"
        )
    if said.get("say") and (not said["file"] or Path(said["file"]).exists()):
        return f"; {said['say']}"
    return ""


def _command_exit_status(waited: int) -> int:
    """The exit status of a waited process; 128 + n if signal n ended it."""
    code = os.waitstatus_to_exitcode(waited)
    return code if code >= 0 else 128 - code


def _send_command_signal(process: int, number: int) -> None:
    """Sends a signal to a process that may have ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def _exit_with_command_status(status: int, saving: int) -> None:
    """Exits with the status of the child, and reports a signal that ended it."""
    ended = (128 + signal.SIGINT, 128 + signal.SIGTERM, 128 + signal.SIGHUP)
    if status > 128 and status not in ended:
        name = _signal_name(status - 128)
        why = ", probably for lack of memory" if name == "SIGKILL" else ""
        said = _ending_message(0, saving)
        print(f"linkwright: the process was ended by {name}{why}{said}", file=sys.stderr)
    os._exit(status)


def _signal_name(number: int) -> str:
    """The name of a signal."""
    return signal.Signals(number).name


def _flush_console_output() -> None:
    """Flushes standard output and standard error, where they are open."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            if stream is not None:
                stream.flush()
