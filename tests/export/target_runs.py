"""How the files of each target are compiled and run; each run raises where values differ."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import casadi as ca
import numpy as np

from linkwright.readings.targets.c_files import write_c_files
from linkwright.readings.targets.casadi_code import write_casadi_files
from linkwright.readings.targets.cpp_code import write_cpp_files
from linkwright.readings.targets.exported_code import ExportedCode
from linkwright.readings.targets.matlab_code import write_matlab_files
from linkwright.readings.targets.numpy_code import write_numpy_module
from linkwright.readings.targets.rust_code import write_rust_module
from linkwright.writers.latex_document import write_latex_document
from tests.export.latex_values import evaluate_latex_document
from tests.export.tools import require_eigen, require_tool, run_tool

STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def write_files(folder: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def run_c(*options: str, compiler: str = "gcc") -> Callable[[ExportedCode, Path], None]:
    """Compile with a compiler and options, and run the check."""

    def run(code: ExportedCode, folder: Path) -> None:
        program = require_tool(compiler)
        write_files(folder, dict(write_c_files(code)[0]))
        sources = [f"{code.stem}{part}.c" for part in ("", "_batch", "_check")]
        run_tool(program, "-std=c99", *STRICT, *options, *sources, "-lm", "-o", "check", cwd=folder)
        require_all_ok(code, run_tool(folder / "check", cwd=folder))

    return run


def require_all_ok(code: ExportedCode, printed: str) -> None:
    """Every function says that it agrees."""
    lines = printed.splitlines()
    for function in code.functions:
        assert any(line.startswith(f"{function.identifier}") and ": ok" in line for line in lines)
    assert "FAILED" not in printed


def run_cpp(code: ExportedCode, folder: Path) -> None:
    program, eigen = require_tool("g++"), require_eigen()
    write_files(folder, dict(write_cpp_files(code)[0]))
    words = ["-std=c++11", *STRICT, "-isystem", eigen, f"{code.stem}_check.cpp", "-o", "check"]
    run_tool(program, *words, cwd=folder)
    require_all_ok(code, run_tool(folder / "check", cwd=folder))


def run_rust(code: ExportedCode, folder: Path) -> None:
    program = require_tool("rustc")
    write_files(folder, {f"{code.stem}.rs": write_rust_module(code)})
    words = ["--edition", "2021", "-D", "warnings", "--test", f"{code.stem}.rs", "-o", "check"]
    run_tool(program, *words, cwd=folder)
    printed = run_tool(folder / "check", cwd=folder)
    assert f"{len(code.functions)} passed; 0 failed" in printed


def run_matlab(code: ExportedCode, folder: Path) -> None:
    program = require_tool("octave-cli")
    write_files(folder, dict(write_matlab_files(code)[0]))
    require_all_ok(code, run_tool(program, "-qfH", "--eval", f"{code.stem}_check", cwd=folder))


def run_numpy(code: ExportedCode, folder: Path) -> None:
    write_files(folder, {f"{code.stem}.py": write_numpy_module(code)})
    require_all_ok(code, run_tool(sys.executable, f"{code.stem}.py", cwd=folder))


def compare(code: ExportedCode, found: list[list[np.ndarray]]) -> None:
    for function, several in zip(code.functions, found, strict=True):
        assert function.reference is not None
        for one, wanted in zip(several, function.reference.outputs, strict=True):
            allowed = code.tolerance * max(1.0, np.abs(wanted).max())
            np.testing.assert_allclose(np.ravel(one), wanted, rtol=0, atol=allowed)


def run_casadi(code: ExportedCode, folder: Path) -> None:
    write_files(folder, dict(write_casadi_files(code)[0]))
    found = []
    for one in code.functions:
        function = ca.Function.load(str(folder / f"{code.stem}_{one.identifier}.casadi"))
        assert one.reference is not None
        given = [
            np.reshape(values, note.port.shape or (1,))
            for note, values in zip(one.inputs, one.reference.inputs, strict=True)
        ]
        found.append([np.array(x) for x in function.call([ca.DM(x) for x in given])])
    compare(code, found)


def run_latex(code: ExportedCode, folder: Path) -> None:
    compare(code, evaluate_latex_document(write_latex_document(code), code))


TARGETS: dict[str, Callable[[ExportedCode, Path], None]] = {
    "c": run_c("-O0"),
    "numpy": run_numpy,
    "casadi": run_casadi,
    "latex": run_latex,
    "matlab": run_matlab,
    "rust": run_rust,
    "cpp": run_cpp,
}
C_VARIANTS: dict[str, Callable[[ExportedCode, Path], None]] = {
    "sanitized": run_c("-O1", "-march=native", *SANITIZED),
    "native": run_c("-O3", "-march=native"),
    "avx2": run_c("-O2", "-mavx2", "-mfma"),
    "plain loops": run_c("-O2", "-DGRAPHS_NO_SIMD"),
    "clang": run_c("-O2", compiler="clang"),
    "clang native": run_c("-O2", "-march=native", compiler="clang"),
}
