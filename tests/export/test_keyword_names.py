"""A mechanism whose names are keywords of C, C++, Rust, MATLAB and Python, with a quaternion and parameters passed.

Every target compiles without warnings and passes its own check, whose values come from ball arithmetic; the FMU moves as
`lw.simulate` does.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import FileError
from tests.export.tools import require_eigen, require_tool, run_tool

STRICT = ["-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
QUANTITIES = ["inverse_dynamics", "forward_dynamics", "mass_matrix", "placement:restrict"]


def keyword_arm() -> lw.Mechanism:
    """A ball joint, a hinge and a slider."""
    return lw.Mechanism(
        name="class",
        parameters={"fn": 1.5, "end": 0.4},
        bodies={
            "int": {"mass": "fn", "inertia": [0.1, 0.2, 0.3], "center": [0.1, 0.05, 0.2]},
            "def": {"mass": 2, "inertia": [0.1, 0.1, 0.2], "center": ["end", 0, 0.1]},
            "self": {"mass": 1, "inertia": [0.05, 0.06, 0.07], "center": [0, 0.1, 0]},
        },
        joints={
            "return": {"type": "spherical", "parent": "ground", "child": "int"},
            "double": {
                "type": "revolute", "parent": "int", "child": "def", "axis": [0, 1, 0],
                "origin": [0.2, 0, 0],
            },
            "const": {
                "type": "prismatic", "parent": "def", "child": "self", "axis": [1, 0, 0],
                "origin": [0, 0, 0.3],
            },
        },
        frames={"restrict": {"body": "self", "origin": [0.1, 0, 0]}},
    )  # fmt: skip


def save_export(folder: Path, to: str, **options: str) -> Path:
    """The folder with the exported files."""
    made = lw.export(
        keyword_arm(), to=to, quantities=QUANTITIES, parameters=["fn", "end"], **options
    )
    made.save(folder if len(made.files) > 1 else folder / next(iter(made.files)))
    return folder


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_c(tmp_path: Path, compiler: str, precision: str) -> None:
    program = require_tool(compiler)
    folder = save_export(tmp_path, "c", precision=precision)
    sources = sorted(path.name for path in folder.glob("*.c"))
    run_tool(program, "-std=c99", *STRICT, *sources, "-lm", "-o", "check", cwd=folder)
    assert "0 failures" in run_tool(str(folder / "check"), cwd=folder)


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_cpp(tmp_path: Path, compiler: str) -> None:
    program, eigen = require_tool(compiler), require_eigen()
    folder = save_export(tmp_path, "cpp")
    words = ["-std=c++11", *STRICT, "-isystem", eigen, "class__check.cpp", "-o", "check"]
    run_tool(program, *words, cwd=folder)
    run_tool(str(folder / "check"), cwd=folder)  # it exits with 1 where a value is wrong


@pytest.mark.parametrize("precision", ["double", "float"])
def test_rust(tmp_path: Path, precision: str) -> None:
    program = require_tool("rustc")
    folder = save_export(tmp_path, "rust", precision=precision)
    run_tool(program, "--test", "-D", "warnings", "class_.rs", "-o", "check", cwd=folder)
    assert "0 failed" in run_tool(str(folder / "check"), cwd=folder)


def test_webassembly(tmp_path: Path) -> None:
    program = require_tool("node")
    folder = save_export(tmp_path, "wasm")
    assert "0 failures" in run_tool(program, "class__check.mjs", cwd=folder)


@pytest.mark.parametrize("to", ["fmu", "fmu2"])
def test_fmu(tmp_path: Path, to: str) -> None:
    """Tolerance: that of the co-simulation's own steps, 100 times."""
    fmpy = pytest.importorskip("fmpy")
    require_tool("gcc")
    path = tmp_path / "arm.fmu"
    lw.export(keyword_arm(), to=to).save(path)
    names = ["return.qw", "return.qx", "return.qy", "return.qz", "double", "const"]
    found = fmpy.simulate_fmu(
        str(path), stop_time=1.0, step_size=0.01, output_interval=0.1,
        fmi_type="CoSimulation", output=names,
    )  # fmt: skip
    run = lw.simulate(keyword_arm(), t=1.0)
    np.testing.assert_allclose([found[name][-1] for name in names], run.q[-1], rtol=0, atol=1e-6)


def test_one_passed_parameter_is_one_number() -> None:
    made = lw.export(keyword_arm(), to="c", quantities=["mass_matrix"], parameters=["fn"])
    assert "1 number (SI units)" in str(made.files["class_.h"])


def test_a_folder_for_one_file_is_answered_with_its_name(tmp_path: Path) -> None:
    made = lw.export(keyword_arm(), to="numpy", quantities=["mass_matrix"])
    with pytest.raises(FileError, match=r"is a folder; name a file, such as .*class_\.py"):
        made.save(tmp_path)
