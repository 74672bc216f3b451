"""`export(…, to="cuda")`: NVRTC and nvcc compile it, and a C build agrees with the balls."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.gpu.cubin_compiler import compile_by_nvrtc, find_nvrtc
from linkwright.writers.exported_functions import record_exported_functions

from .processor_device import ProcessorModule, build_for_processor


@pytest.mark.parametrize("precision", ["double", "float"])
def test_exported_kernels_agree_with_their_reference_values(precision: str) -> None:
    model = lw.compile(lw.gallery("elbow"))
    made = lw.export(model, to="cuda", precision=precision)
    assert list(made.files) == ["elbow.cu", "elbow_example.cu"]
    module = ProcessorModule()
    module.load(build_for_processor(str(made.files["elbow.cu"])))
    kind = np.float32 if precision == "float" else np.float64
    for function in record_exported_functions(model, ("inverse_dynamics", "mass_matrix")):
        assert function.reference is not None
        given = [np.array(x, kind) for x in function.reference.inputs]
        found = np.full(function.tape.outputs[0].size, np.nan, kind)
        module.get_function(f"{function.identifier}_rows")(
            (1,), (128,), (np.int64(1), *given, found)
        )
        wanted = np.array(function.reference.outputs[0])
        assert np.abs(found - wanted).max() < (1e-5 if precision == "float" else 1e-12) * 100


@pytest.mark.skipif(find_nvrtc() is None, reason="needs nvidia-cuda-nvrtc")
def test_nvrtc_compiles_exported_kernels() -> None:
    made = lw.export(lw.gallery("elbow"), to="cuda", quantities=["gravity", "placement:tool"])
    assert compile_by_nvrtc(str(made.files["elbow.cu"]), "sm_90")[:4] == b"\x7fELF"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_nvcc_compiles_the_example(tmp_path: Path) -> None:
    made = lw.export(lw.gallery("elbow"), to="cuda", precision="float")
    made.save(tmp_path)
    command = ["nvcc", "-arch=sm_90", "-o", "example", "elbow_example.cu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_names_that_are_not_identifiers_do_no_harm() -> None:
    """The name of a mechanism stands in comments and in names of files only."""
    arm = lw.gallery("elbow").model_copy(update={"name": "x */ #error y"})
    made = lw.export(arm, to="cuda", quantities=["gravity"])
    assert build_for_processor(str(next(iter(made.files.values()))))
