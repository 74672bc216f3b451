"""The layers: imports point down, importing is light, nothing evaluates text as code."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from inspect import isfunction
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.conveniences import CONVENIENCES, find_convenience

ROOT = Path(lw.__file__).parent

LAYERS = {
    "description": (
        "errors", "types", "processes", "displays", "conveniences", "live_displays", "number_checks", "expressions",
        "mechanism", "files",
    ),
    "derivation": (
        "ports", "tape", "algebra", "kinematics", "quantities", "written_equations", "equations",
        "formulations",
    ),
    "machine": ("program", "integrators", "readings", "model"),
    "work": (
        "forms", "writers", "identify", "verification", "simulation", "linearization", "exports",
        "frameworks", "gpu", "motion", "linkages", "control", "checking", "show", "live", "studies",
        "comparison", "report", "studio", "cli",
    ),
}  # fmt: skip
"""The packages of each layer in their order: a package imports only what stands before it."""

FOR_USERS = (
    "comparison", "control", "identify", "linearization", "linkages", "live", "motion", "report",
    "show", "simulation", "studies",
)  # fmt: skip

RETURNED_FROM = {"equations": {"forms"}, "model": {"gpu"}}
"""Packages whose types the conveniences of a package return."""

ORDER = [package for packages in LAYERS.values() for package in packages]


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module's syntax tree, parsed once for all tests."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def package_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def packages_imported(path: Path) -> set[str]:
    """Packages of ours that a module imports, wherever in it, for type checkers too; but not the
    types that its conveniences return."""
    package = path.relative_to(ROOT).parts[:-1]
    found = set()
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            parts = [*base, *(node.module or "").split(".")]
            names = [parts[0]] if parts[0] else [alias.name for alias in node.names]
            found |= set(names)
        elif isinstance(node, ast.ImportFrom | ast.Import):
            modules = [node.module] if isinstance(node, ast.ImportFrom) else node.names
            texts = [str(getattr(module, "name", module)) for module in modules]
            assert not any(text.split(".")[0] == "linkwright" for text in texts), (
                "import relatively"
            )
    return (
        found - {"__version__", "", package_of(path)} - RETURNED_FROM.get(package_of(path), set())
    )


MODULES = sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    package = package_of(path)
    if package in ("__init__", "__main__"):
        return
    below = ORDER[: ORDER.index(package)]
    above = packages_imported(path) - set(below)
    assert not above, f"{package} must not import {sorted(above)}: they stand above it"


def test_every_package_has_its_place_in_a_layer() -> None:
    packages = {package_of(path) for path in MODULES} - {"__init__", "__main__"}
    assert packages == set(ORDER)
    assert len(ORDER) == len(set(ORDER))


def test_no_package_hides_a_public_name() -> None:
    """Importing a package sets its name in ours: a function of that name would be gone."""
    assert not {package_of(path) for path in MODULES} & set(lw.__all__)


def dynamic_imports(path: Path) -> bool:
    """Whether a module imports by a name that is computed."""
    return any(
        isinstance(node, ast.Name | ast.Attribute)
        and getattr(node, "id", getattr(node, "attr", "")) in {"import_module", "__import__"}
        for node in nodes_of(path)
    )


def test_conveniences_are_the_only_calls_that_point_up() -> None:
    """A method that calls a higher layer stands in the table, and each entry is a function there."""
    homes = {package_of(path) for path in MODULES if dynamic_imports(path)}
    functions_of_users = {"studies"}  # measures of a study, which workers import by name
    assert homes == {"__init__", "conveniences", "formulations"} | functions_of_users
    for method in CONVENIENCES:
        assert callable(find_convenience(method)), method
    used = {
        (package_of(path), node.args[0].value)
        for path in MODULES
        for node in nodes_of(path)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "find_convenience"
        and isinstance(node.args[0], ast.Constant)
    }
    assert {method for _, method in used} == set(CONVENIENCES)
    for package, method in used:
        assert ORDER.index(CONVENIENCES[method].split(":")[0].split(".")[0]) > ORDER.index(package)


def public_function_names() -> set[str]:
    """Functions of `linkwright` and of its packages for users, and those that are planned."""
    homes = [lw, *(getattr(lw, package) for package in FOR_USERS)]
    pairs = [(name, getattr(home, name)) for home in homes for name in home.__all__]
    functions = {name for name, value in pairs if isfunction(value)}
    return functions | {"jax", "torch", "export"}


def test_no_module_has_the_name_of_a_public_function() -> None:
    """Importing a module sets its name in its package: a function of that name would be hidden,
    and a reader who searches for one finds the other."""
    relative = [path.relative_to(ROOT) for path in MODULES]
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


def test_importing_loads_nothing_heavy() -> None:
    code = (
        "import sys, linkwright\n"
        "heavy = {'numpy', 'casadi', 'llvmlite', 'pydantic', 'typer', 'rich', 'scipy', 'mujoco', 'flint', 'matplotlib'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_public_names_are_few_and_exist() -> None:
    assert len(lw.__all__) <= 33
    for name in lw.__all__:
        assert getattr(lw, name) is not None
    assert set(lw.__all__) <= set(dir(lw))
    with pytest.raises(AttributeError):
        lw.nothing  # noqa: B018


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_text_becomes_code_and_no_file_is_long(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for node in nodes_of(path):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"eval", "exec", "sympify", "parse_expr"}
    assert text.count("\n") <= 400


def test_no_class_name_occurs_twice() -> None:
    """A reader who searches for a class finds one."""
    homes: dict[str, list[Path]] = {}
    for path in MODULES:
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(path)
    assert not {name: paths for name, paths in homes.items() if len(paths) > 1}


def required_positional_parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many values a call must give by place or name; `self` and `cls` are not counted."""
    positional = [*node.args.posonlyargs, *node.args.args]
    own = sum(parameter.arg in ("self", "cls") for parameter in positional[:1])
    return len(positional) - own - len(node.args.defaults)


def test_no_function_requires_more_than_six_positional_parameters() -> None:
    """More are keyword-only, so that every call names them."""
    found = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in MODULES
        if package_of(path) != "simulation"
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and required_positional_parameters(node) > 6
    ]
    assert found == []


MAX_METHODS = 20
MAX_BODY_LINES = 70
REASON_FOR_METHODS = "more than 20 methods because"


def test_a_class_with_many_methods_says_why() -> None:
    """A class has one subject; where its methods are many, its docstring has the reason."""
    found = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in MODULES
        for node in nodes_of(path)
        if isinstance(node, ast.ClassDef)
        and sum(isinstance(x, ast.FunctionDef | ast.AsyncFunctionDef) for x in node.body)
        > MAX_METHODS
        and REASON_FOR_METHODS not in " ".join((ast.get_docstring(node) or "").split())
    ]
    assert found == []


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function's body, without its signature and its docstring."""
    body = node.body[ast.get_docstring(node) is not None :]
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_no_function_body_is_long() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in MODULES
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and body_lines(node) > MAX_BODY_LINES
    ]
    assert found == []
