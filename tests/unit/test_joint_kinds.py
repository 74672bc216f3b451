"""The table of joints: every row is consistent, documented, and the only place that knows its name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.mechanism import JOINT_KINDS, JointKind

PACKAGE = Path(lw.__file__).parent
FORMAT = (Path(__file__).parents[2] / "docs/reference/format.md").read_text(encoding="utf-8")

KINDS = pytest.mark.parametrize("kind", JOINT_KINDS.values(), ids=lambda kind: kind.name)

COORDINATES = {
    "revolute": [""], "continuous": [""], "prismatic": [""], "helical": [""],
    "cylindrical": ["phi", "x"], "turn-slide": ["phi", "x"], "universal": ["1", "2"],
    "planar": ["x", "y", "theta"], "spherical": ["qw", "qx", "qy", "qz"],
    "free": ["x", "y", "z", "qw", "qx", "qy", "qz"], "fixed": [],
}  # fmt: skip
"""Endings of the names of coordinates, as conventions.md has them."""


def test_the_kinds_are_those_of_the_conventions() -> None:
    found = {
        name: list(kind.coordinates_with(quaternion=True)) for name, kind in JOINT_KINDS.items()
    }
    assert found == COORDINATES


@KINDS
def test_a_loop_takes_away_what_the_joint_does_not_leave(kind: JointKind) -> None:
    for quaternion in (True, False):
        rows = kind.closure.row_count if kind.closure is not None else 0
        assert rows + len(kind.dofs_with(quaternion)) == 6


@KINDS
def test_directions_are_those_that_the_joint_has(kind: JointKind) -> None:
    motions = {motion.direction for motion in kind.motions}
    assert ("axis2" not in motions) or kind.second_axis is not None
    assert {glyph.direction for glyph in kind.glyphs} <= {"axis", "axis2"}
    assert kind.closure is None or kind.closure.about == "axis" or kind.second_axis is not None
    endings = [motion.ending for motion in kind.motions]
    assert len(set(endings)) == len(endings)


@KINDS
def test_a_joint_is_drawn_unless_it_floats(kind: JointKind) -> None:
    assert bool(kind.glyphs) == (kind.closure is not None)


@KINDS
def test_a_joint_is_documented(kind: JointKind) -> None:
    assert re.search(rf"^\| (`[a-z-]+`, )*`{kind.name}`", FORMAT, re.M)


def names_compared(path: Path) -> Iterator[str]:
    """Names of kinds that a module compares with the type of a joint, or keeps tables by."""
    names, text = set(JOINT_KINDS), path.read_text(encoding="utf-8")
    if not any(f'"{name}"' in text for name in names):
        return
    for node in ast.walk(ast.parse(text)):
        told: set[object] = set()
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
            if any(isinstance(part, ast.Attribute) and part.attr == "type" for part in parts):
                told = {x.value for x in ast.walk(node) if isinstance(x, ast.Constant)}
        elif isinstance(node, ast.Dict):
            told = {key.value for key in node.keys if isinstance(key, ast.Constant)}
            told = told if len(told & names) > 1 else set()
        elif isinstance(node, ast.MatchValue) and isinstance(node.value, ast.Constant):
            told = {node.value.value}
        yield from sorted(str(name) for name in told & names)


def test_no_other_module_knows_the_name_of_a_kind() -> None:
    found = {
        str(path.relative_to(PACKAGE)): names
        for path in sorted(PACKAGE.rglob("*.py"))
        if (names := list(names_compared(path)))
    }
    assert not found


def test_no_other_module_tells_elementary_motions_apart() -> None:
    """The recursions ask what a motion does, not which of the five it is."""
    found = [
        str(path.relative_to(PACKAGE))
        for path in sorted(PACKAGE.rglob("*.py"))
        if re.search(r"\bLinkMotionKind\.[A-Z]", path.read_text(encoding="utf-8"))
    ]
    assert found == ["kinematics/elementary_motions.py"]
