"""The documentation of compiled functions: what `help(model.gravity)` shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import abbreviate_names
from ..mechanism import Mechanism, MechanismNames
from ..mechanism.mechanism_units import UNITS_OF_RATES, coordinate_units, velocity_units
from ..ports import Port
from ..quantities import (
    FRAME_SIGNATURES,
    GUARDED_QUANTITIES,
    INPUT_MEANINGS,
    QuantitySignature,
    quantity_entry_names,
    quantity_ports,
    quantity_signatures,
)
from .guard import ALL_STATES_NOTE, CLOSED_STATES_NOTE


def short_function_help(
    names: MechanismNames, name: str, parameters: Sequence[str], *frame: str
) -> str:
    """The documentation of the gufunc: inputs, outputs and one sentence."""
    heading = _function_help_heading(*quantity_ports(names, name, parameters), *frame)
    return f"{heading}\n\n{_model_signature_table(names, frame)[name].description}"


def model_function_table(
    mechanism: Mechanism, names: MechanismNames, parameters: Sequence[str]
) -> str:
    """All functions of a model with their shapes, one in each line."""
    rows = function_rows(names, parameters)
    width = max(len(name) for name, *_ in rows)
    head = f"Model of {mechanism.name}: nq = {names.nq}, nv = {names.nv}"
    return "\n".join(
        [head, *(f"  {name.ljust(width)}  {shapes}; {units}" for name, shapes, units in rows)]
    )


def function_rows(names: MechanismNames, parameters: Sequence[str]) -> list[tuple[str, str, str]]:
    """Name, inputs and outputs with their shapes, and units of all functions of a model."""
    rows = []
    for name, signature in (quantity_signatures(names) | FRAME_SIGNATURES).items():
        inputs, outputs = quantity_ports(names, name, parameters)
        returned = [f"{p.name} {_function_help_shape(p)}" for p in outputs if p.name != "pivot"]
        rows.append(
            (name, f"{_function_help_ports(inputs)} -> {', '.join(returned)}", signature.units)
        )
    return rows


def _function_help_heading(inputs: Sequence[Port], outputs: Sequence[Port], *frame: str) -> str:
    """Names of inputs and outputs: q, qd, tau -> qdd."""
    returned = [port for port in outputs if port.name != "pivot"]
    given, results = _function_help_ports(inputs), _function_help_ports(returned)
    return f"{given} -> {results}{' of '.join(['', *frame])}"


def full_function_help(
    mechanism: Mechanism, names: MechanismNames, name: str, parameters: Sequence[str], *frame: str
) -> str:
    """A docstring with the names, shapes and units of one mechanism."""
    signature = _model_signature_table(names, frame)[name]
    inputs, outputs = quantity_ports(names, name, parameters)
    entries = quantity_entry_names(names, parameters)
    lines = [f"{signature.description[0].upper()}{signature.description[1:]}.", ""]
    lines += [_function_help_heading(inputs, outputs, *frame), "", "Parameters", "----------"]
    for port in inputs:
        which = f": {abbreviate_names(entries[port.name])}" if port.shape else ""
        meaning = INPUT_MEANINGS[port.name][0]
        lines += [
            f"{port.name} : {_function_help_shape(port)} array, or table by name",
            f"    {meaning[0].upper()}{meaning[1:]}, "
            f"{function_input_units(mechanism, port.name)}{which}.",
        ]
    lines += ["", "Returns", "-------"]
    lines += [
        f"{port.name} : {_function_help_shape(port)} array"
        for port in outputs
        if port.name != "pivot"
    ]
    lines.append(f"    Units: {signature.units}.")
    if names.constraints:
        lines += ["", CLOSED_STATES_NOTE if name in GUARDED_QUANTITIES else ALL_STATES_NOTE]
    return "\n".join(lines)


def _model_signature_table(
    names: MechanismNames, frame: Sequence[str]
) -> dict[str, QuantitySignature]:
    return FRAME_SIGNATURES if frame else quantity_signatures(names)


def _function_help_ports(several: Iterable[Port]) -> str:
    return ", ".join(port.name for port in several)


def _function_help_shape(port: Port) -> str:
    return f"({', '.join(['…', *map(str, port.shape)])})"


def function_input_units(mechanism: Mechanism, name: str) -> str:
    """The units of an input of this mechanism."""
    if name in ("q", "q1"):
        found = ["without unit" if one == "1" else one for one in coordinate_units(mechanism)]
    else:
        kind = {"v": "qd", "vd": "qdd"}.get(name, name)
        if kind not in ("qd", "qdd", "tau"):
            return INPUT_MEANINGS[name][1]
        found = [UNITS_OF_RATES[kind][one] for one in velocity_units(mechanism)]
    return " or ".join(dict.fromkeys(found))
