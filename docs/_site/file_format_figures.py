"""A figure for each joint, constraint and force, from docs/reference/kinds.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, get_args

import linkwright as lw
from linkwright import show
from linkwright.errors import LinkwrightError
from linkwright.kinematics.constraint_kinds import RESTRAINT_READERS
from linkwright.kinematics.force_kinds import FORCE_READERS
from linkwright.mechanism import JOINT_KINDS
from linkwright.show.mechanism_scene import mechanism_scene

from .api_pages import put
from .kind_marks import draw_marks, joint_marks, listed_marks, picture_size
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
    is_posed = "pose" in entry or not restricted
    q = entry.get("pose", mechanism_scene(mechanism).home) if is_posed else lw.assemble(mechanism)
    view = tuple(entry["view"]) if isinstance(entry.get("view"), list) else entry.get("view")
    figure = show.figure_of(mechanism, q, names=True, view=view, width=80)
    marks = listed_marks(mechanism, q, entry.get("marks", ()))
    for joint in tomllib.loads(entry["text"]).get("joints", {}):
        marks += joint_marks(mechanism, joint, q, picture_size(figure))
    if marks:
        draw_marks(figure, mechanism, view, marks)
    show.save(figure, path)
