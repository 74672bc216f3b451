"""The reference of the command line, from the commands themselves."""

from __future__ import annotations

import re
from pathlib import Path

import typer.main

from linkwright.cli import main as _commands
from linkwright.cli.command import app

from .api_pages import escape, put

assert _commands


def write(folder: Path) -> None:
    """Writes generated/commands.md: every command with its arguments, options and examples."""
    group = typer.main.get_command(app)
    panels: dict[str, list[str]] = {}
    for name, command in group.commands.items():
        panel = getattr(command, "rich_help_panel", None) or "Other"
        panels.setdefault(str(panel), []).append(command_text(name, command))
    text = "".join(f"\n## {panel}\n\n" + "\n".join(parts) for panel, parts in panels.items())
    put(folder / "commands.md", "<!-- begin -->\n" + text)


def command_text(name: str, command: object) -> str:
    """One command."""
    context = typer.Context(command, info_name=f"linkwright {name}")
    usage = f"linkwright {name} {' '.join(command.collect_usage_pieces(context))}"
    rows = [row for parameter in command.params if (row := parameter_row(parameter, context))]
    table = "| argument or option | meaning |\n|---|---|\n" + "\n".join(rows) if rows else ""
    body = help_text(command.help or "")
    return f"### linkwright {name}\n\n```text\n{usage}\n```\n\n{body}\n\n{table}\n"


def parameter_row(parameter: object, context: object) -> str | None:
    """A row for one argument or option."""
    record = parameter.get_help_record(context)
    if record is None:
        names, text = parameter.make_metavar(context), getattr(parameter, "help", "") or ""
    else:
        names, text = record
    words = " ".join(str(text).split())
    return f"| `{names.replace('|', '/')}` | {escape(words).replace('|', '/')} |"


def help_text(text: str) -> str:
    """The help of a command; its examples are a block of code."""
    parts, code = [], []
    for line in re.sub(r"\x08\n?", "", text).splitlines():
        if re.match(r"\s*(\$ )?linkwright ", line):
            code.append(line.strip().removeprefix("$ "))
        else:
            if code:
                parts += ["", "```sh", *code, "```", ""]
                code = []
            parts.append(escape(line.strip()))
    if code:
        parts += ["", "```sh", *code, "```"]
    return "\n".join(parts)
