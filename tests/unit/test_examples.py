"""The examples of all docstrings run: those of public names, which test_docstrings.py requires, and
those of all other modules.
"""

from __future__ import annotations

import doctest
import inspect
import shutil
from importlib import import_module
from pathlib import Path

import pytest

import linkwright as lw

SOURCE = Path(__file__).parents[2] / "src"
FRAMEWORKS = {
    "linkwright.frameworks.jax_functions": "jax",
    "linkwright.frameworks.torch_functions": "torch",
    "linkwright.gpu.cuda_model": "cupy",
}
"""Modules whose examples need a framework that may be missing."""
PROGRAMS = {"linkwright.writers.code_sizes": "gcc"}
"""Modules whose examples need a program that may be missing."""


def modules_with_examples() -> list[str]:
    """Names of all modules with a prompt in them."""
    return [
        ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(SOURCE.rglob("*.py"))
        if ">>> " in path.read_text(encoding="utf-8")
    ]


def run_examples(module_name: str) -> tuple[int, list[str]]:
    """The number of examples of a module, and what the doctest module reports of failures."""
    module, report = import_module(module_name), list[str]()
    runner = doctest.DocTestRunner(verbose=False)
    for case in doctest.DocTestFinder().find(module, module_name):
        runner.run(case, out=report.append, clear_globs=False)
    return runner.tries, report


@pytest.mark.parametrize("module_name", modules_with_examples())
def test_examples_run(module_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if module_name in FRAMEWORKS:
        pytest.importorskip(FRAMEWORKS[module_name])
    program = PROGRAMS.get(module_name)
    if program and not shutil.which(program):
        pytest.skip(f"needs {program}")
    monkeypatch.chdir(tmp_path)
    count, report = run_examples(module_name)
    assert count
    assert not report, "".join(report)
    assert not list(tmp_path.iterdir()), "an example leaves files behind"


def public_names() -> dict[str, object]:
    """All public classes and functions: those of `linkwright` and of its packages for users."""
    packages = {"lw": lw, **{f"lw.{name}": getattr(lw, name) for name in lw._PACKAGES}}
    found = {}
    for place, package in packages.items():
        own = [
            key
            for key, one in vars(package).items()
            if inspect.isclass(one) and one.__module__ == package.__name__
        ]
        for name in getattr(package, "__all__", own):
            found[f"{place}.{name}"] = getattr(package, name)
    return {name: one for name, one in found.items() if callable(one)}


@pytest.mark.parametrize("name", public_names())
def test_every_public_name_has_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(public_names()[name]) or "")


def test_no_example_is_skipped() -> None:
    skipped = [
        path.name for path in SOURCE.rglob("*.py") if "+SKIP" in path.read_text(encoding="utf-8")
    ]
    assert not skipped


def test_a_wrong_example_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wrong_example.py").write_text('"""\n>>> 1 + 1\n3\n"""\n', encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    count, report = run_examples("wrong_example")
    assert count == 1
    assert "Expected:\n    3\nGot:\n    2" in "".join(report)
