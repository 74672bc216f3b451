"""The rooms: imports point one way, importing is light, nothing evaluates text as code."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import linkwright as lw

ROOT = Path(lw.__file__).parent

MAY_IMPORT = {
    "errors": set(),
    "processes": set(),
    "expressions": {"errors"},
    "mechanism": {"errors", "expressions"},
    "algebra": set(),
    "kinematics": {"errors", "expressions", "mechanism", "algebra"},
    "quantities": {"mechanism", "tape"},
    "calls": {"errors", "tape"},
    "formulations": {
        "errors", "expressions", "mechanism", "algebra", "kinematics", "equations", "identify",
    },
    "identify": {
        "errors", "expressions", "mechanism", "algebra", "kinematics", "quantities", "equations",
        "formulations", "tape", "readings",
    },
    # equations.closed_form hands over to forms, which is loaded only then
    "equations": {"errors", "expressions", "mechanism", "algebra", "quantities", "forms"},
    "forms": {
        "errors", "expressions", "mechanism", "kinematics", "quantities", "equations", "formulations",
        "tape", "readings",
    },
    "files": {"errors", "expressions", "mechanism", "algebra", "kinematics"},
    "tape": {"errors"},
    "readings": {"errors", "expressions", "tape"},
    "model": {
        "errors", "mechanism", "quantities", "calls", "equations", "formulations", "tape", "readings",
        "guard", "certify", "closed_states", "mass_check", "model_facts",
    },
    "model_facts": {"errors", "equations"},
    "guard": {"errors", "kinematics", "quantities", "model", "closed_states", "near_redundancy"},
    "near_redundancy": {"model"},
    "closed_states": {"errors", "kinematics", "model"},
    "mass_check": {"errors", "equations"},
    "certify": {"errors", "quantities", "equations", "formulations", "tape", "readings", "model"},
    "verification": {
        "errors", "expressions", "mechanism", "kinematics", "quantities", "equations", "formulations",
        "tape", "readings",
    },
    "study": {
        "errors", "processes", "mechanism", "kinematics", "equations", "formulations", "tape", "simulation", "show",
    },
    "report": {
        "errors", "expressions", "mechanism", "files", "kinematics", "formulations", "forms", "simulation",
        "show", "study", "verification", "checking",
    },
    # a run's pictures are made by show, and its controller again by control: loaded only then
    "simulation": {
        "errors", "expressions", "mechanism", "algebra", "kinematics", "equations", "formulations", "tape",
        "readings", "model", "guard", "near_redundancy", "files", "show", "control",
    },
    # and so are a plan's
    "motion": {
        "errors", "expressions", "mechanism", "algebra", "kinematics", "equations", "formulations", "tape", "readings",
        "model", "show",
    },
    "control": {
        "errors", "mechanism", "algebra", "equations", "files", "formulations", "motion", "simulation",
    },
    "show": {
        "errors", "expressions", "mechanism", "kinematics", "model", "simulation", "motion",
    },
    # the page of a folder's marks is made by report, which is loaded only then
    "checking": {
        "errors", "expressions", "mechanism", "kinematics", "equations", "formulations", "forms",
        "tape", "readings", "report",
    },
    "cli": {
        "errors", "processes", "study", "checking", "simulation", "motion", "control", "expressions", "mechanism", "files", "kinematics",
        "quantities", "equations", "formulations", "tape", "readings", "model", "verification", "identify", "forms",
        "show", "report",
    },
}  # fmt: skip


def rooms_imported(path: Path) -> set[str]:
    """Rooms of the package that a module imports, wherever in it."""
    package = path.relative_to(ROOT).parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            parts = [*base, *(node.module or "").split(".")]
            names = [parts[0]] if parts[0] else [alias.name for alias in node.names]
            found |= set(names)
    return found - {"__version__", ""}


MODULES = sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if room in ("__init__", "__main__"):
        return
    outside = rooms_imported(path) - {room}
    assert outside <= MAY_IMPORT[room], f"{room} must not import {outside - MAY_IMPORT[room]}"


def test_no_room_hides_a_public_name() -> None:
    """Importing a room sets its name in the package: a function of that name would be gone."""
    rooms = {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in MODULES}
    assert not rooms & set(lw.__all__)


def test_every_room_has_a_rule() -> None:
    rooms = {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in MODULES}
    assert rooms - {"__init__", "__main__"} == set(MAY_IMPORT)


def test_importing_loads_nothing_heavy() -> None:
    code = (
        "import sys, linkwright\n"
        "heavy = {'numpy', 'casadi', 'llvmlite', 'pydantic', 'typer', 'rich', 'scipy', 'mujoco', 'flint', 'matplotlib'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_public_names_are_few_and_exist() -> None:
    assert len(lw.__all__) <= 22
    for name in lw.__all__:
        assert getattr(lw, name) is not None
    assert set(lw.__all__) <= set(dir(lw))
    with pytest.raises(AttributeError):
        lw.nothing  # noqa: B018


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_text_becomes_code_and_no_file_is_long(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"eval", "exec", "sympify", "parse_expr"}
    assert text.count("\n") <= 400
