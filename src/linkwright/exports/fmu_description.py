"""The model description of an FMU, in FMI 2.0 and FMI 3.0."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import quoteattr

from .fmu_variables import FmuVariable, FmuVariables

DEFAULT_TOLERANCE = 1e-9

UNITS: dict[str, Mapping[str, int]] = {
    "s": {"s": 1}, "rad": {"rad": 1}, "m": {"m": 1}, "rad/s": {"rad": 1, "s": -1},
    "m/s": {"m": 1, "s": -1}, "N.m": {"kg": 1, "m": 2, "s": -2}, "N": {"kg": 1, "m": 1, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
}  # fmt: skip
"""Exponents of base units."""

_NOT_IN_XML = re.compile("[^\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def write_element(tag: str, inner: Sequence[str] = (), /, **attributes: object) -> str:
    """Return an element of XML; attributes that are None are left out."""
    given = "".join(
        f" {key}={quoteattr(_attribute_text(value))}"
        for key, value in attributes.items()
        if value is not None
    )
    if not inner:
        return f"<{tag}{given}/>"
    lines = "\n".join(f"  {line}" for one in inner for line in one.splitlines())
    return f"<{tag}{given}>\n{lines}\n</{tag}>"


def _attribute_text(value: object) -> str:
    """The text of an attribute; characters that XML cannot hold become spaces."""
    if isinstance(value, bool):
        return str(value).lower()
    return _NOT_IN_XML.sub(" ", repr(value) if isinstance(value, float) else str(value))


def _write_units(variables: Sequence[FmuVariable]) -> str:
    """The definitions of the units that are used."""
    used = [unit for unit in UNITS if unit in {one.unit for one in variables}]
    return write_element(
        "UnitDefinitions",
        [
            write_element("Unit", [write_element("BaseUnit", **UNITS[unit])], name=unit)
            for unit in used
        ],
    )


def _known_unit(one: FmuVariable) -> str | None:
    return one.unit if one.unit in UNITS else None


def _initial(one: FmuVariable) -> str | None:
    """How a variable is initialized, where this is not the default."""
    if one.causality in ("independent", "input"):
        return None
    return "calculated" if one.start is None else "exact"


# -- FMI 3.0 ---------------------------------------------------------------------------------------


def write_fmi3_description(name: str, stem: str, token: str, variables: FmuVariables) -> str:
    """Return modelDescription.xml of FMI 3.0."""
    abilities = {"canGetAndSetFMUState": True, "canSerializeFMUState": True}
    structure = [
        *(write_element("Output", valueReference=one.reference) for one in variables.shown),
        *(
            write_element("ContinuousStateDerivative", valueReference=one.reference)
            for one in variables.rates
        ),
        *(
            write_element("InitialUnknown", valueReference=one.reference)
            for one in variables.computed
        ),
        *(
            write_element("EventIndicator", valueReference=one.reference)
            for one in variables.indicators
        ),
    ]
    inner = [
        write_element(
            "ModelExchange", modelIdentifier=stem, needsCompletedIntegratorStep=True, **abilities
        ),
        write_element(
            "CoSimulation",
            modelIdentifier=stem,
            canHandleVariableCommunicationStepSize=True,
            **abilities,
        ),
        _write_units(variables.all),
        write_element("DefaultExperiment", startTime=0.0, stopTime=1.0, tolerance=1e-9),
        write_element("ModelVariables", [_write_fmi3_variable(one) for one in variables.all]),
        write_element("ModelStructure", structure),
    ]
    return _write_document(inner, fmiVersion="3.0", modelName=name, instantiationToken=token)


def _write_fmi3_variable(one: FmuVariable) -> str:
    return write_element(
        "Float64",
        name=one.name,
        valueReference=one.reference,
        description=one.description,
        causality=one.causality,
        variability=one.variability,
        initial=_initial(one),
        unit=_known_unit(one),
        derivative=one.derivative_of,
        start=one.start,
    )


# -- FMI 2.0 ---------------------------------------------------------------------------------------


def write_fmi2_description(name: str, stem: str, token: str, variables: FmuVariables) -> str:
    """Return modelDescription.xml of FMI 2.0."""
    sources = write_element("SourceFiles", [write_element("File", name=f"{stem}.c")])
    abilities = {"canGetAndSetFMUstate": True, "canSerializeFMUstate": True}
    parts = {
        "Outputs": variables.shown,
        "Derivatives": variables.rates,
        "InitialUnknowns": sorted(variables.computed, key=lambda one: one.reference),
    }
    structure = [
        write_element(tag, [write_element("Unknown", index=one.reference + 1) for one in some])
        for tag, some in parts.items()
    ]
    inner = [
        write_element(
            "ModelExchange",
            [sources],
            modelIdentifier=stem,
            completedIntegratorStepNotNeeded=False,
            **abilities,
        ),
        write_element(
            "CoSimulation",
            [sources],
            modelIdentifier=stem,
            canHandleVariableCommunicationStepSize=True,
            **abilities,
        ),
        _write_units(variables.all),
        write_element("DefaultExperiment", startTime=0.0, stopTime=1.0, tolerance=1e-9),
        write_element("ModelVariables", [_write_fmi2_variable(one) for one in variables.all]),
        write_element("ModelStructure", structure),
    ]
    indicators = len(variables.indicators)
    return _write_document(
        inner, fmiVersion="2.0", modelName=name, guid=token, numberOfEventIndicators=indicators
    )


def _write_fmi2_variable(one: FmuVariable) -> str:
    index = None if one.derivative_of is None else one.derivative_of + 1
    real = write_element("Real", unit=_known_unit(one), derivative=index, start=one.start)
    return write_element(
        "ScalarVariable",
        [real],
        name=one.name,
        valueReference=one.reference,
        description=one.description,
        causality=one.causality,
        variability=one.variability,
        initial=_initial(one),
    )


def _write_document(inner: Sequence[str], **attributes: object) -> str:
    """The whole document."""
    from .. import __version__

    root = write_element(
        "fmiModelDescription",
        inner,
        **attributes,
        generationTool=f"linkwright {__version__}",
        variableNamingConvention="flat",
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{root}\n'
