"""`prepare_kernels`: kernels compiled beforehand, for machines without CasADi or a compiler."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..errors import ArgumentError, FileError
from ..model.model import Model
from ..readings.cuda.cuda_options import PRECISIONS, CudaOptions
from ..tape import Tape
from ..types import Floats
from ..writers.exported_functions import DEFAULT_QUANTITIES
from ..writers.reference_values import draw_reference_inputs, evaluate_tape_exactly
from . import device_runtime
from .cubin_compiler import DEFAULT_ARCHITECTURE, compile_cubin
from .kernel_records import make_function_record

RUNTIME_NAME = "linkwright_cuda.py"
"""The runtime as it stands beside the kernels."""


def prepare_kernels(
    model: Model,
    folder: str | Path,
    quantities: Sequence[str] = DEFAULT_QUANTITIES,
    *,
    precisions: Sequence[str] = PRECISIONS,
    options: CudaOptions | None = None,
    architecture: str = DEFAULT_ARCHITECTURE,
    states: int = 8,
) -> Path:
    """Write kernels, their sources, reference values and a manifest to a folder.

    The folder also has the runtime, a Python module that imports only NumPy and CuPy; on the
    machine with the GPU, `linkwright_cuda.load_prepared_kernels(folder)` has the functions.

    Parameters
    ----------
    model : Model
        A compiled mechanism.
    folder : str or Path
        The folder to write; it is created.
    quantities : sequence of str
        Functions by name, those of frames as `placement:tool`.
    precisions : sequence of str
        "float", "double" or both.
    options : CudaOptions, optional
        Choices of the kernels.
    architecture : str
        The GPU's architecture, such as "sm_90".
    states : int
        Number of reference states, which ball arithmetic evaluates.

    Returns
    -------
    Path
        The folder.
    """
    for precision in precisions:
        if precision not in PRECISIONS:
            raise ArgumentError(
                f"precisions cannot have {precision!r}", remedy="use 'float' or 'double'"
            )
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror}", where=str(target)) from None
    records: dict[str, object] = {}
    references: dict[str, Any] = {}
    for quantity in quantities:
        name, *frame = quantity.split(":")
        tape, stem = model.tape(name, *frame), "_".join((name, *frame))
        record, sources = make_function_record(stem, tape, precisions, options or CudaOptions())
        kernels = record["kernels"]
        assert isinstance(kernels, dict)
        for precision, source in sources.items():
            file = f"{stem}_{precision}"
            (target / f"{file}.cu").write_text(source, encoding="utf-8")
            (target / f"{file}.cubin").write_bytes(compile_cubin(source, architecture))
            kernels[precision]["cubin"] = f"{file}.cubin"
        records[stem] = record
        references |= reference_states(model, tape, stem, states)
    np.savez(target / "reference.npz", **references)
    manifest = {
        "linkwright": __version__,
        "mechanism": model.mechanism.name,
        "architecture": architecture,
        "q": list(model.q_names),
        "qd": list(model.qd_names),
        "functions": records,
    }
    (target / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    runtime = Path(device_runtime.__file__).read_text(encoding="utf-8")
    (target / RUNTIME_NAME).write_text(runtime, encoding="utf-8")
    return target


def reference_states(model: Model, tape: Tape, name: str, states: int) -> dict[str, Floats]:
    """Return inputs that float32 holds exactly, and the outputs there in ball arithmetic."""
    generator = np.random.default_rng(len(tape))
    given, found = [], []
    for _ in range(states):
        inputs = [
            np.asarray(x, np.float32).astype(float).tolist()
            for x in draw_reference_inputs(model, tape, generator)
        ]
        given.append(inputs)
        found.append(evaluate_tape_exactly(tape, inputs))
    rows = {
        f"{name} {port.name}": np.array([x[k] for x in given]) for k, port in enumerate(tape.inputs)
    }
    rows |= {
        f"{name} {port.name}": np.array([x[k] for x in found])
        for k, port in enumerate(tape.outputs)
    }
    return rows
