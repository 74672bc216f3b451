"""Mechanisms of the tests: the example files, and four-bars of any lengths."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import linkwright as lw

FOLDER = Path(__file__).parents[2] / "examples/linkages"
EXAMPLES = ("watt-six-bar", "stephenson-six-bar", "geared-five-bar", "quick-return")


@cache
def example(name: str) -> lw.Mechanism:
    """A mechanism of examples/linkages, or of the gallery."""
    path = FOLDER / f"{name}.toml"
    return lw.load(path) if path.is_file() else lw.gallery(name)


@cache
def analysis(
    name: str, input_: str | None = None, samples: int = 25
) -> lw.linkages.LinkageAnalysis:
    """An analysis that several tests use."""
    return lw.linkages.analyze_linkage(example(name), input_, samples=samples)


def offset_press(swapped: bool = False) -> lw.Mechanism:
    """A slider-crank whose slide, 30 mm beside the crank, closes the loop; `swapped`: as a joint
    from the slider to ground. It does not say what its input is."""
    way: dict[str, object] = {"type": "prismatic", "axis": [1, 0, 0]}
    if swapped:
        way |= {"parent": "slider", "child": "ground", "child_origin": [0, 0.03, 0]}
    else:
        way |= {"child": "slider", "origin": [0, 0.03, 0]}
    return lw.Mechanism(
        name="press", gravity=[0, 0, 0],
        bodies={"crank": {"mass": 1}, "rod": {"mass": 1}, "slider": {"mass": 1}},
        joints={
            "crank": {"type": "revolute", "child": "crank"},
            "knee": {"type": "revolute", "parent": "crank", "child": "rod", "origin": [0.1, 0, 0]},
            "wrist": {"type": "revolute", "parent": "rod", "child": "slider", "origin": [0.3, 0, 0]},
        },
        loops={"way": way}, assembly={"crank": 0.9, "knee": -1.0, "wrist": 0.1},
    )  # fmt: skip
