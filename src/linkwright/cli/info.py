"""`linkwright info`: what a mechanism is made of."""

from __future__ import annotations

from typing import Any

from rich import markup
from rich.tree import Tree as Drawing

from ..mechanism import GROUND
from .show import console, print_table, printable


def _shown(text: str) -> str:
    """A user's text as it is, never read as markup."""
    return markup.escape(printable(text))


def print_description(info: dict[str, Any]) -> None:
    out = console()
    count = "unknown" if info["freedom"] is None else info["freedom"]
    frees = f"{count} freedom{'s' if info['freedom'] != 1 else ''}"
    if info["coordinates"] != info["freedom"]:
        frees += f" ({info['coordinates']} coordinates)"
    out.print(
        f"[bold]{_shown(info['name'])}[/bold]: {len(info['bodies'])} bodies, "
        f"{len(info['joints'])} joints, {frees}, {info['total_mass']:.6g} kg, "
        f"gravity ({', '.join(f'{g:g}' for g in info['gravity'])}) m/s²"
    )
    out.print(_drawing(info))
    if info["parameters"]:
        rows = [(k, f"{v['value']:.10g}", v["as_written"]) for k, v in info["parameters"].items()]
        out.print()
        print_table(["parameter", "value (SI)", "as written"], rows)
    if info["mobility"]:
        out.print()
    for name, (kind, parent, child) in info["loops"].items():
        ends = f"{_shown(parent)} → {_shown(child)}"
        out.print(f"loop [cyan]{_shown(name)}[/cyan] {kind}: {ends}")
    for name, kind in info["constraints"].items():
        out.print(f"constraint [cyan]{_shown(name)}[/cyan] {kind}")
    if info["mobility"]:
        found = info["mobility"]
        out.print()
        for line in (found.get("text") or found["why"]).splitlines():
            out.print(_shown(line))
    for key in ("forces", "contacts", "actuators", "chosen_coordinates"):
        if info[key]:
            out.print(f"\n{key.replace('_', ' ')}: {', '.join(map(_shown, info[key]))}")
    for title, key in (("Warnings", "warnings"), ("In the file, but not used", "unused")):
        if info[key]:
            out.print(f"\n[bold]{title}[/bold]")
            for line in info[key]:
                out.print(f"  • {_shown(line)}")


def _drawing(info: dict[str, Any]) -> Drawing:
    """The tree of bodies and joints, what closes loops, and the frames."""
    root = Drawing(GROUND)
    branches = {GROUND: root}
    frames: dict[str, list[str]] = {}
    for frame, body in info["frames"].items():
        frames.setdefault(body, []).append(frame)
    for name, joint in info["joints"].items():
        child, note = joint["child"], f" ({_shown(joint['note'])})" if joint["note"] else ""
        mass = info["bodies"][child]["mass"]
        label = f"[cyan]{_shown(name)}[/cyan] {joint['type']}{note} → {_shown(child)}"
        label += f" {mass:.4g} kg" if mass else ""
        branches[child] = branches[joint["parent"]].add(label)
    for name, (kind, parent, child) in info["loops"].items():
        label = f"[magenta]{_shown(name)}[/magenta] {kind} → {_shown(child)} (closes a loop)"
        branches[parent].add(label)
    for body, names in frames.items():
        for frame in names:
            branches[body].add(f"[green]{_shown(frame)}[/green] frame")
    return root
