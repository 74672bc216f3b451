"""Symbols that the sets of equations of several formulations contain, and their meanings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import casadi as ca

from ..equations import Equations
from ..quantities import quantity_entry_names
from ..types import SX
from ..written_equations import EquationLine, EquationSection, EquationSet, WrittenDualVector

_AXIS = re.compile(r", (?:[xyz]|axis [123](?P<whose> of .+)?)$")
"""The axis at the end of the meaning of a component: x, or axis 1 of link2."""


def with_actuator_efforts(equations: Equations, source: EquationSet) -> EquationSet:
    """The set with the efforts of actuators, B u, in place of generalized forces τ, as in Bayseç
    and Kapucu (56)–(65); unchanged if an actuator has the name of another symbol of the set."""
    actuators = equations.names.actuators
    taken = {*equations.parameters, *equations.names.q, *source.symbols}
    taken |= {line.left for line in source.lines() if isinstance(line.left, str)}
    if not actuators or taken & set(actuators):
        return source
    names = quantity_entry_names(equations.names, list(equations.parameters))["tau"]
    tau = equations.symbols["tau"]
    (B,) = equations.expressions("input_matrix")
    efforts = ca.densify(B @ ca.vertcat(*map(ca.SX.sym, actuators)))
    by_name = dict(zip(names, ca.vertsplit(efforts), strict=True))

    def side_in_efforts(side: SX) -> SX:
        return ca.SX(ca.substitute(ca.SX(side), tau, efforts))

    def line_in_efforts(line: EquationLine) -> EquationLine:
        if isinstance(line.right, WrittenDualVector):
            return line
        left = line.left
        left = by_name.get(left, left) if isinstance(left, str) else side_in_efforts(left)
        return replace(line, left=left, right=side_in_efforts(line.right))

    def section_in_efforts(section: EquationSection) -> EquationSection:
        shorter = section.shorter and section_in_efforts(section.shorter)
        return replace(section, lines=tuple(map(line_in_efforts, section.lines)), shorter=shorter)

    found = replace(source, sections=tuple(map(section_in_efforts, source.sections)))
    if {symbol.name() for symbol in line_symbols(found)}.isdisjoint(actuators):
        return source
    plural = "efforts of the actuators" if len(actuators) > 1 else "effort of the actuator"
    meanings = dict.fromkeys(actuators, plural)
    return replace(found, symbols={**source.symbols, **meanings})


def line_symbols(source: EquationSet) -> list[SX]:
    """The symbols in the lines of a set, except in dual vectors."""
    sides = [side for line in source.lines() for side in (line.left, line.right)]
    plain = [ca.SX(x) for x in sides if not isinstance(x, (str, WrittenDualVector))]
    return list(ca.symvar(ca.vertcat(ca.SX(0, 1), *plain)))


def with_standard_symbols(equations: Equations, source: EquationSet) -> EquationSet:
    """The set with the meanings of generalized forces and multipliers that it contains."""
    used = {symbol.element_hash() for symbol in line_symbols(source)}
    labels = {line.left for line in source.lines() if isinstance(line.left, str)}
    names = quantity_entry_names(equations.names, list(equations.parameters))
    found = dict(source.symbols)
    for port in ("tau", "lambda"):
        symbols = ca.vertsplit(equations.symbols[port]) if names[port] else []
        present = [
            (k, name)
            for k, (name, symbol) in enumerate(zip(names[port], symbols, strict=True))
            if symbol.element_hash() in used or name in labels
        ]
        if port == "lambda":
            found |= {name: f"multiplier of row {k + 1} of J" for k, name in present}
        elif present:
            found[", ".join(name for _, name in present)] = "generalized forces at the joints"
    return replace(source, symbols=found)


def grouped_symbols(symbols: Mapping[str, str]) -> list[tuple[tuple[str, ...], str]]:
    """The names of symbols that follow each other with the same meaning, and this meaning; those
    of components along axes, "force of ground on link1, x", belong together, too."""
    found: list[tuple[tuple[str, ...], str]] = []
    for key, meaning in symbols.items():
        names, common = tuple(key.split(", ")), _meaning_of_vector(meaning)
        if found and _meaning_of_vector(found[-1][1]) == common:
            found[-1] = (*found[-1][0], *names), common
        else:
            found.append((names, meaning))
    return found


def _meaning_of_vector(meaning: str) -> str:
    """The meaning of a vector from that of a component; of others the same."""
    found = _AXIS.search(meaning)
    if found is None:
        return meaning
    vector = meaning[: found.start()]
    if "axis" not in found[0] or " in the axes of " in vector:
        return vector
    return (
        f"{vector}, along the axes{found['whose']}" if found["whose"] else f"{vector}, in its axes"
    )


def with_clashing_names(equations: Equations, source: EquationSet) -> EquationSet:
    """The set with a warning for each name of its own that the mechanism uses, too."""
    own = {*source.symbols, *(line.left for line in source.lines() if isinstance(line.left, str))}
    clashing = [x for x in (*equations.parameters, *equations.names.q) if x in own]
    if not clashing:
        return source
    found = dict(source.symbols)
    for name in clashing:
        kind = "parameter" if name in equations.parameters else "coordinate"
        said = found.get(name, "of these equations")
        found[name] = f"{said}; the mechanism has a {kind} of this name, too: rename that"
    return replace(source, symbols=found)
