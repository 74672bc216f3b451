"""A figure for each joint, constraint and force, from docs/reference/kinds.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, get_args

import numpy as np

import linkwright as lw
from linkwright import show
from linkwright.errors import LinkwrightError
from linkwright.kinematics.constraint_kinds import RESTRAINT_READERS
from linkwright.kinematics.force_kinds import FORCE_READERS
from linkwright.mechanism import JOINT_KINDS

from .api_pages import put
from .pictures import is_current, source_digest

EXAMPLES = Path(__file__).resolve().parents[1] / "reference/kinds.toml"
TITLES = {"joints": "Joints", "constraints": "Constraints", "forces": "Forces"}


def kinds() -> dict[str, set[str]]:
    """The kinds that the package knows: each needs an example."""

    def types(readers: dict[type, Any]) -> set[str]:
        return {get_args(one.model_fields["type"].annotation)[0] for one in readers}

    return {
        "joints": set(JOINT_KINDS),
        "constraints": types(RESTRAINT_READERS),
        "forces": types(FORCE_READERS),
    }


def write(folder: Path) -> None:
    """Writes generated/kinds.md, and pictures in generated/kinds."""
    home = folder / "kinds"
    home.mkdir(parents=True, exist_ok=True)
    examples = tomllib.loads(EXAMPLES.read_text(encoding="utf-8"))
    for group, known in kinds().items():
        if known != set(examples[group]):
            wrong = ", ".join(sorted(known ^ set(examples[group])))
            raise LinkwrightError(f"{group} without an example, or unknown: {wrong}",
                                  where=str(EXAMPLES), remedy="add or remove it")  # fmt: skip
    mark = home / "source.txt"
    text = "<!-- begin -->\n"
    for group, entries in examples.items():
        text += f"\n## {TITLES[group]}\n"
        for name, entry in entries.items():
            path = home / f"{group}-{name}.svg"
            if not (is_current(mark) and path.exists()):
                draw(name, entry, path)
            text += section(name, entry, path)
    put(folder / "kinds.md", text)
    mark.write_text(source_digest(), encoding="utf-8")


def section(name: str, entry: dict[str, Any], path: Path) -> str:
    picture = f"![{name}](/generated/kinds/{path.name})"
    return f"""
### {name}

{entry["says"]}

::::{{grid}} 1 1 2 2
:gutter: 2

:::{{grid-item}}
{picture}
:::

:::{{grid-item}}
```toml
{entry["text"].strip()}
```
:::
::::
"""


def draw(name: str, entry: dict[str, Any], path: Path) -> None:
    """Draws the mechanism of an example."""
    mechanism = lw.load(f'name = "{name}"\n{entry["more"]}\n{entry["text"]}')
    restricted = bool(mechanism.loops or mechanism.constraints)
    q = lw.assemble(mechanism) if restricted and "pose" not in entry else entry.get("pose")
    figure = show.figure_of(mechanism, q, names=True, view=entry.get("view"), width=80)
    if "arrow" in entry:
        draw_arrow(figure, mechanism, q, entry["arrow"])
    if "turn" in entry:
        draw_turn(figure.axes[0], entry["turn"])
    show.save(figure, path)


def draw_turn(axes: Any, turn: dict[str, Any]) -> None:
    """Draws a torque or an angle about the origin of a planar mechanism: an arc with a head."""
    angles = np.radians(np.linspace(turn["from"], turn["to"], 40))
    x, y = turn["radius"] * np.cos(angles), turn["radius"] * np.sin(angles)
    axes.plot(x, y, color="#D55E00", lw=1.5)
    axes.annotate(
        "", xy=(x[-1], y[-1]), xytext=(x[-3], y[-3]), annotation_clip=False,
        arrowprops={"arrowstyle": "-|>", "color": "#D55E00", "lw": 1.5},
    )  # fmt: skip
    label = {"color": "#D55E00", "ha": "center", "va": "center", "clip_on": False}
    beyond = angles[-1] + 0.35 * np.sign(turn["to"] - turn["from"])
    axes.text(*turn["radius"] * np.array([np.cos(beyond), np.sin(beyond)]), turn["label"], **label)


def draw_arrow(figure: Any, mechanism: lw.Mechanism, q: Any, arrow: dict[str, Any]) -> None:
    """Draws a force at a frame of a planar mechanism."""
    place = lw.compile(mechanism).placement(arrow["at"])(q)[:2, 3]
    tip = place + np.array(arrow["along"][:2])
    axes = figure.axes[0]
    axes.annotate(
        "", xy=tip, xytext=place, annotation_clip=False,
        arrowprops={"arrowstyle": "-|>", "color": "#D55E00", "lw": 1.5},
    )  # fmt: skip
    axes.text(*tip, f" {arrow['label']}", color="#D55E00", va="center", clip_on=False)
