"""`prepare_kernels`: kernels compiled beforehand, for machines without CasADi or a compiler."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..errors import ArgumentError, FileError
from ..model.model import Model
from ..number_checks import check_whole_number
from ..readings.cuda.cuda_options import PRECISIONS, CudaOptions
from ..simulation.effort_limits import effort_bounds
from ..simulation.fixed_steps.rollouts import cached_step, refuse_events
from ..simulation.fixed_steps.step_methods import check_method
from ..tape import Tape
from ..types import Floats
from ..writers.exported_functions import DEFAULT_QUANTITIES
from ..writers.reference_values import draw_reference_inputs, evaluate_tape_exactly
from . import runtime
from .cubin_compiler import DEFAULT_ARCHITECTURE, compile_cubin
from .kernel_records import (
    KERNEL_ENTRY,
    STEP_BLOCK,
    make_function_record,
    write_step_kernel_source,
)

RUNTIME_NAME = "linkwright_cuda"
"""The package of the runtime, beside the kernels."""

FUNCTIONS_THAT_SOLVE = (
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_dynamics_with_wrenches",
    "mass_matrix_inverse",
)
"""Functions that solve with the mass matrix: their errors grow with its condition number."""


def prepare_kernels(
    model: Model,
    folder: str | Path,
    quantities: Sequence[str] = DEFAULT_QUANTITIES,
    *,
    precisions: Sequence[str] = PRECISIONS,
    options: CudaOptions | None = None,
    architecture: str = DEFAULT_ARCHITECTURE,
    states: int = 8,
    rollouts: Sequence[str] = (),
) -> Path:
    """Write kernels, their sources, reference values and a manifest to a folder.

    The folder also has the runtime, a Python package that imports only NumPy and CuPy; on the
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
    rollouts : sequence of str
        Methods of fixed steps, such as "rk4", whose rollouts under given forces are compiled.

    Returns
    -------
    Path
        The folder.

    Examples
    --------
    >>> import linkwright as lw
    >>> from linkwright.gpu import prepare_kernels
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     made = prepare_kernels(lw.compile(lw.gallery("elbow")), folder, ["gravity"])
    ...     (made / "manifest.json").exists(), (made / "gravity_float.cubin").exists()
    (True, True)
    """
    states = check_whole_number(states, "states", 1)
    if not isinstance(model, Model):
        raise ArgumentError(
            f"a {type(model).__name__} is not a model", remedy="compile it first: lw.compile(…)"
        )
    for name, given in (("quantities", quantities), ("rollouts", rollouts)):
        if isinstance(given, str):
            raise ArgumentError(f"{name} is a text ({given!r})", remedy=f"give a list: [{given!r}]")
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
        references |= reference_states(model, tape, name, stem, states)
    steps = {
        method: _prepare_steps(model, target, method, precisions, options, architecture)
        for method in rollouts
    }
    np.savez(target / "reference.npz", **references)
    manifest = {
        "linkwright": __version__,
        "mechanism": model.mechanism.name,
        "architecture": architecture,
        "q": list(model.q_names),
        "qd": list(model.qd_names),
        "functions": records,
        "rollouts": steps,
    }
    (target / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    shutil.copytree(
        Path(runtime.__file__).parent,
        target / RUNTIME_NAME,
        ignore=shutil.ignore_patterns("__pycache__"),
        dirs_exist_ok=True,
    )
    return target


def _prepare_steps(
    model: Model,
    target: Path,
    method: str,
    precisions: Sequence[str],
    options: CudaOptions | None,
    architecture: str,
) -> dict[str, object]:
    """Write the kernels of a method of fixed steps; return their record."""
    refuse_events(model.mechanism)
    check_method(method, model.equations)
    step = cached_step(model, method, None)
    cubins, bounds = {}, effort_bounds(model.mechanism)
    for precision in precisions:
        source = write_step_kernel_source(
            step, replace(options or CudaOptions(), precision=precision)
        )
        stem = f"{method}_{precision}"
        (target / f"{stem}.cu").write_text(source, encoding="utf-8")
        (target / f"{stem}.cubin").write_bytes(compile_cubin(source, architecture))
        cubins[precision] = f"{stem}.cubin"
    return {
        "entry": f"{KERNEL_ENTRY}_steps",
        "block": STEP_BLOCK,
        "cubins": cubins,
        "sizes": [port.size for port in step.tape.outputs],
        "limits": None if bounds is None else [x.tolist() for x in bounds],
        "parameters": list(step.kept),
        "nominal": [float(x) for x in model.nominal_parameters] if step.kept else [],
    }


def reference_states(
    model: Model, tape: Tape, quantity: str, name: str, states: int
) -> dict[str, Floats]:
    """Return inputs that float32 holds exactly, the outputs there in ball arithmetic, and the
    condition number of the mass matrix, which is 1 for functions that do not solve with it."""
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
    condition = np.ones(states)
    if quantity in FUNCTIONS_THAT_SOLVE:
        kept = [rows[f"{name} p"]] if model.parameters else []
        condition = np.linalg.cond(model.mass_matrix(rows[f"{name} q"], *kept))
    return {**rows, f"{name} condition": condition}
