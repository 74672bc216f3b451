"""Printed forms read back by our parser, beside the numeric functions."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

import linkwright as lw
from linkwright.expressions import (
    Expression,
    evaluate_expression_exactly,
    expression_text,
    parse_expression,
)
from linkwright.forms.form_sources import find_form_source, record_form_source_tape


def state(eqs: lw.Equations, seed: int) -> dict[str, float]:
    """Random values of everything that moves, and the parameters' own."""
    rng = np.random.default_rng(seed)
    values = {name: float(value) for name, value in eqs.parameters.items()}
    for name in eqs.names.q:
        values[name] = rng.uniform(-2, 2)
    values["t"] = rng.uniform(0, 2)
    rates = [f"d{name}" if name in eqs.names.q else name for name in eqs.names.qd]
    values |= {name: rng.uniform(-2, 2) for name in rates}
    values |= {f"d{name}": rng.uniform(-2, 2) for name in rates}
    for prefix in ("tau_", "v_", "vd_", "p_"):
        values |= {f"{prefix}{name}": rng.uniform(-2, 2) for name in eqs.names.qd}
    quaternion = [n for n in eqs.names.q if n.endswith((".qw", ".qx", ".qy", ".qz"))]
    for k in range(0, len(quaternion), 4):
        part = quaternion[k : k + 4]
        length = np.linalg.norm([values[n] for n in part])
        values |= {n: values[n] / length for n in part}
    return values


def numeric(eqs: lw.Equations, name: str, *frame: str, values: dict[str, float]) -> list[float]:
    """The same quantity by CasADi, entries row by row."""
    made = find_form_source(eqs, name, *frame)
    assert not made.solved_output
    if made.springs:  # the source has them apart; the function has them in it
        made = replace(made, outputs=((made.outputs[0][0], eqs.expressions(made.name)[0]),))
    outputs = [ca.densify(ca.SX(expression)) for _, expression in made.outputs]
    symbols = ca.symvar(ca.vertcat(*(ca.vec(o) for o in outputs)))
    _, entries = record_form_source_tape(eqs, made)
    inputs = [values[name] for name in entries["x"]] if symbols else []
    function = ca.Function("f", symbols, outputs)
    results = function.call(inputs)
    return [float(x) for result in results for x in np.array(result).ravel()]


def agree(eqs: lw.Equations, name: str, *frame: str, seed: int = 0, by: str = "auto") -> None:
    """The printed text, evaluated, gives what the function gives."""
    form = eqs.closed_form(name, *frame)
    values = state(eqs, seed)
    wanted = numeric(eqs, name, *frame, values=values)
    made = form.collect_terms(by)
    known = dict(values)
    for name_, value in made.groups:
        known[name_] = _value(value, known)
    entries = made.entries_by_name()
    found = [_value(entries[label], known) for label in form.labels]
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)


def _value(expression: Expression, known: dict[str, float]) -> float:
    """By way of the text, unless that is longer than the parser takes."""
    text = expression_text(expression)
    return float(
        evaluate_expression_exactly(
            parse_expression(text) if len(text) < 10_000 and "'" not in text else expression, known
        )
    )
