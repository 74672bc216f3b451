"""The documentation of compiled functions: what `help(model.gravity)` shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .errors import span_of_names
from .guard import FOR_ALL_STATES, FOR_CLOSED_STATES
from .mechanism import Mechanism, Names
from .mechanism.units import OF_SPEED, coordinate_units, speed_units
from .ports import Port
from .quantities import (
    FRAME_SIGNATURES,
    GUARDED,
    INPUT_MEANINGS,
    Signature,
    entry_names,
    ports,
    signatures,
)


def short_help(names: Names, name: str, parameters: Sequence[str], *frame: str) -> str:
    """Inputs, outputs and a sentence: the documentation of the gufunc."""
    heading = _heading(*ports(names, name, parameters), *frame)
    return f"{heading}\n\n{_signature_table(names, frame)[name].what}"


def function_table(mechanism: Mechanism, names: Names, parameters: Sequence[str]) -> str:
    """All functions of a model with their shapes, one in each line."""
    known = signatures(names) | FRAME_SIGNATURES
    lines = [f"Model of {mechanism.name}: nq = {names.nq}, nv = {names.nv}"]
    width = max(map(len, known))
    for name, signature in known.items():
        inputs, outputs = ports(names, name, parameters)
        returned = [port for port in outputs if port.name != "pivot"]
        shapes = f"{_listed(inputs)} -> {', '.join(f'{p.name} {_shape(p)}' for p in returned)}"
        lines.append(f"  {name.ljust(width)}  {shapes}; {signature.units}")
    return "\n".join(lines)


def _heading(inputs: Sequence[Port], outputs: Sequence[Port], *frame: str) -> str:
    """Names of inputs and outputs: q, qd, tau -> qdd."""
    returned = [port for port in outputs if port.name != "pivot"]
    return f"{_listed(inputs)} -> {_listed(returned)}{' of '.join(['', *frame])}"


def full_help(
    mechanism: Mechanism, names: Names, name: str, parameters: Sequence[str], *frame: str
) -> str:
    """A docstring with the names, shapes and units of one mechanism."""
    signature = _signature_table(names, frame)[name]
    inputs, outputs = ports(names, name, parameters)
    entries = entry_names(names, parameters)
    lines = [f"{signature.what[0].upper()}{signature.what[1:]}.", ""]
    lines += [_heading(inputs, outputs, *frame), "", "Parameters", "----------"]
    for port in inputs:
        which = f": {span_of_names(entries[port.name])}" if port.shape else ""
        meaning = INPUT_MEANINGS[port.name][0]
        lines += [
            f"{port.name} : {_shape(port)} array, or table by name",
            f"    {meaning[0].upper()}{meaning[1:]}, {_units(mechanism, port.name)}{which}.",
        ]
    lines += ["", "Returns", "-------"]
    lines += [f"{port.name} : {_shape(port)} array" for port in outputs if port.name != "pivot"]
    lines.append(f"    Units: {signature.units}.")
    if names.constraints:
        lines += ["", FOR_CLOSED_STATES if name in GUARDED else FOR_ALL_STATES]
    return "\n".join(lines)


def _signature_table(names: Names, frame: Sequence[str]) -> dict[str, Signature]:
    return FRAME_SIGNATURES if frame else signatures(names)


def _listed(several: Iterable[Port]) -> str:
    return ", ".join(port.name for port in several)


def _shape(port: Port) -> str:
    return f"({', '.join(['…', *map(str, port.shape)])})"


def _units(mechanism: Mechanism, name: str) -> str:
    """The units of an input of this mechanism."""
    if name in ("q", "q1"):
        found = ["without unit" if one == "1" else one for one in coordinate_units(mechanism)]
    else:
        kind = {"v": "qd", "vd": "qdd"}.get(name, name)
        if kind not in ("qd", "qdd", "tau"):
            return INPUT_MEANINGS[name][1]
        found = [OF_SPEED[kind][one] for one in speed_units(mechanism)]
    return " or ".join(dict.fromkeys(found))
