"""The rooms: imports point one way, importing is light, nothing evaluates text as code."""

from __future__ import annotations

import ast
import subprocess
import sys
from inspect import isfunction
from pathlib import Path

import pytest

import linkwright as lw

ROOT = Path(lw.__file__).parent

MAY_IMPORT = {
    "errors": set(),
    "types": set(),
    "displays": set(),
    "processes": set(),
    "expressions": {"errors"},
    "mechanism": {"errors", "expressions"},
    "algebra": {"errors", "expressions", "tape"},
    "kinematics": {"errors", "expressions", "mechanism", "algebra"},
    "quantities": {"mechanism", "tape"},
    "calls": {"errors", "tape"},
    "model_functions": set(),
    "function_help": {"errors", "mechanism", "quantities", "guard", "tape"},
    "named_inputs": {"errors", "mechanism", "kinematics", "quantities", "tape", "model"},
    "formulations": {
        "errors", "expressions", "mechanism", "algebra", "kinematics", "quantities", "equations", "tape",
    },
    "identify": {
        "errors", "expressions", "mechanism", "algebra", "kinematics", "quantities", "equations",
        "formulations", "tape",
    },
    # equations.closed_form hands over to forms, which is loaded only then
    "equations": {"errors", "expressions", "mechanism", "algebra", "quantities", "forms"},
    "forms": {
        "errors", "expressions", "mechanism", "algebra", "kinematics", "quantities", "equations", "formulations",
        "tape", "readings",
    },
    "files": {"errors", "expressions", "mechanism", "algebra", "kinematics"},
    "tape": {"errors"},
    "readings": {"errors", "expressions", "algebra", "tape"},
    "model": {
        "errors", "mechanism", "quantities", "calls", "equations", "formulations", "tape", "readings",
        "guard", "certify", "closed_states", "mass_check", "function_tapes", "model_facts", "model_functions",
        "function_help", "named_inputs",
    },
    "function_tapes": {"mechanism", "quantities", "equations", "mass_check", "tape"},
    "model_facts": {"errors", "equations"},
    "guard": {"errors", "quantities", "model", "closed_states", "near_redundancy"},
    "near_redundancy": {"model"},
    "closed_states": {"errors", "model"},
    "mass_check": {"errors", "equations"},
    "certify": {"errors", "quantities", "equations", "formulations", "tape", "readings", "model"},
    "verification": {
        "errors", "expressions", "mechanism", "algebra", "kinematics", "quantities", "equations", "formulations",
        "tape", "readings",
    },
    "comparison": {
        "errors", "processes", "mechanism", "kinematics", "equations", "formulations", "tape", "simulation", "show",
    },
    "report": {
        "errors", "expressions", "mechanism", "files", "kinematics", "formulations", "forms", "simulation",
        "show", "comparison", "verification", "checking",
    },
    # a run's pictures are made by show, and its controller again by control: loaded only then
    "simulation": {
        "errors", "expressions", "mechanism", "algebra", "kinematics", "equations", "formulations", "tape",
        "readings", "model", "guard", "near_redundancy", "files", "show", "control",
    },
    # and so are a plan's
    "motion": {
        "errors", "expressions", "mechanism", "algebra", "equations", "formulations", "tape", "readings",
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
        "errors", "expressions", "mechanism", "algebra", "kinematics", "equations", "formulations", "forms",
        "tape", "readings", "report",
    },
    "cli": {
        "errors", "processes", "comparison", "checking", "simulation", "motion", "control", "expressions", "mechanism", "files", "kinematics",
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
    outside = rooms_imported(path) - {room, "types", "displays"}
    assert outside <= MAY_IMPORT[room], f"{room} must not import {outside - MAY_IMPORT[room]}"


FOR_USERS = ("comparison", "control", "identify", "motion", "report", "show", "simulation")


def public_function_names() -> set[str]:
    """Functions of `linkwright` and of its packages for users, and those that are planned."""
    homes = [lw, *(getattr(lw, package) for package in FOR_USERS)]
    pairs = [(name, getattr(home, name)) for home in homes for name in home.__all__]
    functions = {name for name, value in pairs if isfunction(value)}
    return functions | {"study", "jax", "torch", "export"}


def test_no_module_has_the_name_of_a_public_function() -> None:
    """Importing a module sets its name in its package: a function of that name would be hidden,
    and a reader who searches for one finds the other. The modules of `cli` are the commands."""
    relative = [path.relative_to(ROOT) for path in MODULES if "cli" not in path.parts]
    modules = {word.removesuffix(".py") for path in relative for word in path.parts}
    assert not modules & public_function_names()


def test_packages_for_users_load_when_they_are_first_used() -> None:
    code = (
        "import sys, linkwright as lw\n"
        "loaded = lambda: {n.split('.')[1] for n in sys.modules if n.startswith('linkwright.')}\n"
        "print(sorted(loaded()), lw.control.__name__, 'control' in loaded())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[] linkwright.control True"


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
    assert len(lw.__all__) <= 27
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
