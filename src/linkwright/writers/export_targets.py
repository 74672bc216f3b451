"""The table of targets of `export`: a row for each, file formats first.

A target that writes code imports its printer when it is used. A new target is a new row.
"""

from __future__ import annotations

from dataclasses import replace

from ..conveniences import find_convenience
from ..errors import UnsupportedError
from ..files.file_formats import FILE_FORMATS
from .export_target import ExportedFiles, ExportRequest, ExportTarget
from .exported_functions import MOTION_QUANTITY
from .mechanism_files import FORMAT_WRITERS, write_mechanism_text

_NO_SCRIPT = (
    "a script of optimal control: it needs a mechanism without constraints, quaternions and forces "
    "that depend on time"
)


def _make_format_target(name: str) -> ExportTarget:
    """Make the target of a file format of mechanisms."""

    ending = FILE_FORMATS[name].ending

    def write_format(request: ExportRequest) -> ExportedFiles:
        text, lost = write_mechanism_text(request.mechanism, name)
        return ExportedFiles(name, {f"{request.file_stem}{ending}": text}, tuple(lost))

    return ExportTarget(name, f"the mechanism as a {name.upper()} file", write_format)


def _write_c(request: ExportRequest) -> ExportedFiles:
    from ..readings.targets.c_files import write_c_files

    functions = tuple(name for name in request.quantities if name != MOTION_QUANTITY)
    files: dict[str, str | bytes] = {}
    usage, operations = "", {}
    if functions:
        code = replace(request, quantities=functions).code
        texts, usage = write_c_files(code)
        files |= texts
        operations = {one.identifier: one.operation_count for one in code.functions}
    if functions != request.quantities:
        if request.precision != "double":
            raise UnsupportedError(
                f"simulate cannot be written in the precision {request.precision}",
                remedy="leave precision out, or export step_rk4",
            )
        motion: ExportedFiles = find_convenience("ExportRequest.write_c_motion")(request)
        files |= motion.files
        usage += motion.usage
    return ExportedFiles("c", files, usage=usage, is_folder=True, operations=operations)


def _write_cpp(request: ExportRequest) -> ExportedFiles:
    from ..readings.targets.cpp_code import write_cpp_files

    files, usage = write_cpp_files(request.code)
    return ExportedFiles("cpp", files, usage=usage, is_folder=True)


def _write_cuda(request: ExportRequest) -> ExportedFiles:
    from ..readings.cuda.cuda_files import write_cuda_files

    files, usage = write_cuda_files(request.code)
    return ExportedFiles("cuda", files, usage=usage, is_folder=True)


def _write_casadi(request: ExportRequest) -> ExportedFiles:
    from ..readings.targets.casadi_code import write_casadi_files

    files, usage = write_casadi_files(request.code)
    has_script = any(name.endswith(".py") for name in files)
    lost = [_NO_SCRIPT] if "forward_dynamics" in request.quantities and not has_script else []
    return ExportedFiles("casadi", files, tuple(lost), usage, is_folder=True)


def _write_numpy(request: ExportRequest) -> ExportedFiles:
    from ..readings.targets.numpy_code import write_numpy_module

    return ExportedFiles("numpy", {f"{request.file_stem}.py": write_numpy_module(request.code)})


def _write_matlab(request: ExportRequest) -> ExportedFiles:
    from ..readings.targets.matlab_code import write_matlab_files

    files, usage = write_matlab_files(request.code)
    return ExportedFiles("matlab", files, usage=usage, is_folder=True)


def _write_rust(request: ExportRequest) -> ExportedFiles:
    from ..readings.targets.rust_code import write_rust_module

    return ExportedFiles("rust", {f"{request.file_stem}.rs": write_rust_module(request.code)})


def _write_latex(request: ExportRequest) -> ExportedFiles:
    from .latex_document import write_latex_document

    return ExportedFiles("latex", {f"{request.file_stem}.tex": write_latex_document(request.code)})


def _write_wasm(request: ExportRequest) -> ExportedFiles:
    found: ExportedFiles = find_convenience("ExportRequest.write_wasm")(request)
    return found


def _write_fmu(request: ExportRequest) -> ExportedFiles:
    found: ExportedFiles = find_convenience("ExportRequest.write_fmu")(request, "fmi3")
    return found


def _write_fmu2(request: ExportRequest) -> ExportedFiles:
    found: ExportedFiles = find_convenience("ExportRequest.write_fmu")(request, "fmi2")
    return found


_FUNCTIONS = frozenset({"quantities", "by", "parameters"})
_MOTION = frozenset({"by", "parameters"})
_TYPED_FUNCTIONS = _FUNCTIONS | {"precision"}

_CODE_TARGETS = (
    ExportTarget("c", "C99, and batches with SIMD", _write_c, _TYPED_FUNCTIONS, is_folder=True),
    ExportTarget("cpp", "a C++ header for Eigen", _write_cpp, _TYPED_FUNCTIONS, is_folder=True),
    ExportTarget("cuda", "CUDA kernels", _write_cuda, _TYPED_FUNCTIONS, is_folder=True),
    ExportTarget("casadi", "saved CasADi functions", _write_casadi, _FUNCTIONS, is_folder=True),
    ExportTarget("numpy", "a Python module for NumPy", _write_numpy, _FUNCTIONS),
    ExportTarget("matlab", "MATLAB and GNU Octave", _write_matlab, _FUNCTIONS, is_folder=True),
    ExportTarget("rust", "a module of Rust", _write_rust, _TYPED_FUNCTIONS),
    ExportTarget("latex", "the steps of the computation as equations", _write_latex, _FUNCTIONS),
    ExportTarget("fmu", "a functional mock-up unit, FMI 3.0", _write_fmu, _MOTION),
    ExportTarget("fmu2", "a functional mock-up unit, FMI 2.0", _write_fmu2, _MOTION),
    ExportTarget("wasm", "WebAssembly with JavaScript", _write_wasm, _FUNCTIONS, is_folder=True),
)
"""Targets that write functions as source code or binary code."""

EXPORT_TARGETS: dict[str, ExportTarget] = {
    target.name: target for target in (*map(_make_format_target, FORMAT_WRITERS), *_CODE_TARGETS)
}
"""All targets by the names that users write after `to=` and `--to`."""
