"""The entry point of `linkwright`: exit status 0, 1 (a check failed) or 2 (bad input), and one line
on stderr for an error, never a traceback."""

from __future__ import annotations

import io
import os
import sys
import warnings

import typer

from ..errors import LinkwrightError
from . import commands as commands  # registers them
from .command import app
from .command_output import CheckFailedError
from .supervise import supervise_command


def main() -> None:
    """Runs the command in a process that Ctrl-C ends within a second."""
    supervise_command(run_command)


def run_command() -> None:
    """Runs the command itself; errors of users are one line on stderr and exit status 2."""
    warnings.simplefilter("ignore")
    if isinstance(sys.stdout, io.TextIOWrapper):  # symbols that a terminal lacks are escapes
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status = app(standalone_mode=False)
        if status == 130:  # Typer takes Ctrl-C for itself, and returns what it would exit with
            raise KeyboardInterrupt
        if sys.stdout is not None:  # it is closed if the caller closed it
            sys.stdout.flush()
    except CheckFailedError as error:
        _exit_with_message(str(error), 1)
    except LinkwrightError as error:
        _exit_with_message(str(error))
    except typer.Exit as error:
        sys.exit(error.exit_code)
    except OSError as error:  # files report their own; this is standard output
        _discard_console_output()
        if isinstance(error, BrokenPipeError):
            sys.exit(0)
        _exit_with_message(f"the output cannot be written: {error.strerror}")
    except (KeyboardInterrupt, typer.Abort):
        _exit_with_message("interrupted", 130)
    except Exception as error:  # usage errors of the parser behind Typer
        show = getattr(error, "format_message", None)
        if show is None:
            raise
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "linkwright"
        message = show()
        if not message:  # no arguments: the help has been shown
            sys.exit(2)
        _exit_with_message(f"{message.rstrip('.')}; see '{command} --help'")


def _discard_console_output() -> None:
    """Discards buffered output, so that Python does not write it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _exit_with_message(message: str, status: int = 2) -> None:
    """Prints a message on stderr and exits with a status."""
    print(f"linkwright: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(status)
