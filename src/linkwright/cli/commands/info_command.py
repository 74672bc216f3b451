"""`linkwright info`: what a mechanism is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sized
from typing import TYPE_CHECKING

from ..command import register_command
from ..command_output import CommandOutcome, escape_for_terminal, open_console, print_console_table
from ..options import MechanismFile

if TYPE_CHECKING:
    from rich.tree import Tree

    from ...report.mechanism_facts import MechanismPageFacts


@register_command("Mechanisms")
def info(mechanism: MechanismFile) -> CommandOutcome:
    """Show the parts of a mechanism, and what its file contains that is not used.

    Examples
    --------
    linkwright info robot.urdf --base free
    """
    from ...report.mechanism_facts import mechanism_page_facts

    description = mechanism_page_facts(mechanism)
    return CommandOutcome(description, lambda: print_mechanism_info(description))


def _escape_console_markup(text: str) -> str:
    """Escape a user's text, so that it is never read as markup."""
    from rich.markup import escape

    return escape(escape_for_terminal(text))


def print_mechanism_info(info: MechanismPageFacts) -> None:
    """Print the header, the tree, the parameters, the constraints and the remarks."""
    out = open_console()
    dof = info["freedom"]
    degrees = f"{'unknown' if dof is None else dof} degree{'s' if dof != 1 else ''} of freedom"
    if info["coordinates"] != dof:
        degrees += f" ({info['coordinates']} coordinates)"
    parts = f"{_number_of(info['bodies'], 'body')}, {_number_of(info['joints'], 'joint')}"
    out.print(
        f"[bold]{_escape_console_markup(info['name'])}[/bold]: {parts}, {degrees}, "
        f"{info['total_mass']:.6g} kg, "
        f"gravity ({', '.join(f'{g:g}' for g in info['gravity'])}) m/s²"
    )
    out.print(_console_body_tree(info))
    if info["parameters"]:
        rows = [(k, f"{v['value']:.10g}", v["as_written"]) for k, v in info["parameters"].items()]
        out.print()
        print_console_table(["parameter", "value (SI)", "as written"], rows)
    _print_constraint_info(info)
    lists = {
        "lengths": info["lengths"],
        "forces": info["forces"],
        "contacts": info["contacts"],
        "actuators": info["actuators"],
        "poses": info["poses"],
        "chosen coordinates": info["chosen_coordinates"],
        "with": info["coordinate_definitions"],
        "shapes": [f"{body} ({_counted_kinds(kinds)})" for body, kinds in info["shapes"].items()],
    }
    for title, names in lists.items():
        if names:
            out.print(f"\n{title}: {', '.join(map(_escape_console_markup, names))}")
    remarks = {
        "Warnings": info["warnings"],
        "Computed": info["computed"],
        "In the file, but not used": info["unused"],
    }
    for title, lines in remarks.items():
        if lines:
            out.print(f"\n[bold]{title}[/bold]")
            for line in lines:
                out.print(f"  • {_escape_console_markup(line)}")


def _number_of(parts: Sized, word: str) -> str:
    """Return the number of some parts with its noun: 1 body, 2 bodies."""
    plural = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{len(parts)} {word if len(parts) == 1 else plural}"


def _counted_kinds(kinds: list[str]) -> str:
    """Return kinds of shapes with their numbers: 2 boxes, 1 mesh."""

    def plural(kind: str) -> str:
        return kind + ("es" if kind.endswith(("x", "h")) else "s")

    counts = Counter(kinds).items()
    return ", ".join(f"{count} {kind if count == 1 else plural(kind)}" for kind, count in counts)


def _print_constraint_info(info: MechanismPageFacts) -> None:
    """Print loops, constraints and the mobility that they leave."""
    out, mobility = open_console(), info["mobility"]
    if mobility:
        out.print()
    for name, (kind, parent, child) in info["loops"].items():
        ends = f"{_escape_console_markup(parent)} → {_escape_console_markup(child)}"
        out.print(f"loop [cyan]{_escape_console_markup(name)}[/cyan] {kind}: {ends}")
    for name, kind in info["constraints"].items():
        out.print(f"constraint [cyan]{_escape_console_markup(name)}[/cyan] {kind}")
    if mobility:
        out.print()
        for line in (mobility.get("text") or mobility["why"]).splitlines():
            out.print(_escape_console_markup(line))


def _console_body_tree(info: MechanismPageFacts) -> Tree:
    """Return the tree of bodies and joints, with what closes loops, and frames."""
    from rich.tree import Tree

    from ...mechanism import GROUND

    root = Tree(GROUND)
    branches = {GROUND: root}
    frames: dict[str, list[str]] = {}
    for frame, body in info["frames"].items():
        frames.setdefault(body, []).append(frame)
    for name, joint in info["joints"].items():
        child, note = (
            joint["child"],
            f" ({_escape_console_markup(joint['note'])})" if joint["note"] else "",
        )
        mass = info["bodies"][child]["mass"]
        label = (
            f"[cyan]{_escape_console_markup(name)}[/cyan] {joint['type']}{note} → "
            f"{_escape_console_markup(child)}"
        )
        label += f" {mass:.4g} kg" if mass else ""
        branches[child] = branches[joint["parent"]].add(label)
    for name, (kind, parent, child) in info["loops"].items():
        label = (
            f"[magenta]{_escape_console_markup(name)}[/magenta] {kind} → "
            f"{_escape_console_markup(child)}"
        )
        label += " (closes a loop)"
        branches[parent].add(label)
    for body, names in frames.items():
        for frame in names:
            branches[body].add(f"[green]{_escape_console_markup(frame)}[/green] frame")
    return root
