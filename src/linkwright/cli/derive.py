"""`linkwright derive`: the equations in closed form; where that is longer than a page, as named
intermediate variables in the order of computation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

from ..equations import Equations
from ..errors import LinkwrightError, NameNotFoundError, UnsupportedError, suggest
from ..expressions import Expression, to_text
from ..expressions.typeset import LatexSetter, MathmlSetter, Typesetter
from ..forms import SHORT, closed_only, readable
from ..formulations import derive
from ..kinematics.values import Parameters
from ..mechanism import Mechanism
from ..quantities import FRAME_SIGNATURES as OF_FRAMES
from ..quantities import entry_names, ports, signatures
from ..readings.listing import listing
from ..tape import Tape, count_operations, record
from .show import emit_json, printable, working

FORMATS = ("text", "latex", "html", "json")
_USUAL = (
    "mass_matrix", "coriolis_matrix", "gravity", "passive", "constraint_residual",
    "constraint_jacobian", "constraint_bias",
)  # fmt: skip


def print_equations(
    mechanism: Mechanism,
    by: str,
    form: str,
    what: Sequence[str] | None,
    parameters: Parameters,
    steps: bool = False,
) -> None:
    if form not in FORMATS:
        raise LinkwrightError(f"--as {form} is not known", remedy=f"use {', '.join(FORMATS)}")
    with working(f"deriving {mechanism.name} by {by}"):
        equations = derive(mechanism, by=by, parameters=parameters)
    if equations.nv == 0:
        raise UnsupportedError(
            f"{mechanism.name} cannot move: it has no joint with a freedom",
            remedy="add one, or unlock one",
        )
    known = [*equations.function_names(), *(["state_rates"] if equations.state else [])]
    if what is None:
        what = [name for name in _USUAL if name in known]
        if equations.names.positions == 0 and "constraint_residual" in what:
            what.remove("constraint_residual")
        if "mass_matrix" not in known:
            what.append("state_rates")
    what = [SHORT.get(name, name) for name in what]
    _check_known(equations, what, known)
    written: dict[str, _Written | _Closed] = {}
    for name in what:
        with working(f"writing {name}"):
            made = _Written if name in known else _Closed
            written[name] = made(equations, name, steps)
    {"text": _text, "latex": _latex, "html": _html, "json": _json}[form](equations, written)


def _check_known(equations: Equations, what: Sequence[str], known: Sequence[str]) -> None:
    others = closed_only(equations)
    for name in what:
        quantity, _, frame = name.partition(":")
        if name in known or name in others or (frame and quantity in OF_FRAMES):
            continue
        remedy = suggest(name, [*known, *others, *SHORT])
        if quantity in OF_FRAMES:
            remedy = f"name a frame or body: {quantity}:{equations.names.bodies[-1]}"
        raise NameNotFoundError(f"there is no quantity '{name}'", remedy=remedy)


class _Written:
    """One function in closed form, or as a listing; `rows` are entries that share a value."""

    def __init__(self, equations: Equations, name: str, steps: bool) -> None:
        names, parameters = equations.names, list(equations.parameters)
        entries = entry_names(names, parameters)
        if name == "state_rates":
            tape = _state_rates(equations)
            entries["x"] = list(equations.state.names) if equations.state else []
            self.what = "rates of the formulation's own states x"
        else:
            tape = record(equations.function(name), *ports(names, name, parameters))
            self.what = signatures(names)[name].what
        known = [entry for port in tape.inputs for entry in entries[port.name]]
        _check_distinct(known)
        self.operations = count_operations(tape)
        steps = steps or name == "state_rates"
        form = None if steps else readable(equations, name)
        self.is_closed = form is not None and set(form.symbols) <= set(known)
        self.steps: list[tuple[str, Expression]]
        self.rows: list[tuple[tuple[str, ...], Expression]]
        if form is not None and self.is_closed:
            made = form.written()
            self.steps, self.rows = list(made.groups), list(made.rows)
            self.size = f"{form.terms} term{'s' if form.terms != 1 else ''}"
        else:
            found = listing(tape, entries)
            self.steps = [(step.name, step.value) for step in found.steps]
            self.rows = [((e.name,), e.value) for part in found.results.values() for e in part]
            self.size = f"{self.operations} operations"
            if not steps:
                self.size = f"steps, as the closed form is longer than a page; {self.size}"


class _Closed:
    """A quantity that is no function, or one of a frame (`jacobian:tool`): its closed form."""

    def __init__(self, equations: Equations, name: str, steps: bool) -> None:
        quantity, _, frame = name.partition(":")
        if steps:
            raise UnsupportedError(f"{name} has no steps of its own", remedy="leave out --steps")
        form = readable(equations, quantity, *([frame] if frame else []))
        if form is None:
            raise UnsupportedError(
                f"the closed form of {name} is longer than a page",
                remedy="in Python, equations.closed_form takes terms= and seconds=",
            )
        made = form.written()
        self.what, self.is_closed, self.operations = form.what, True, None
        self.steps, self.rows = list(made.groups), list(made.rows)
        self.size = f"{form.terms} term{'s' if form.terms != 1 else ''}"


def _state_rates(equations: Equations) -> Tape:
    import casadi as ca

    assert equations.state is not None
    inputs = {"x": equations.state.x, "tau": equations.symbols["tau"]}
    if equations.names.in_time:
        inputs["t"] = equations.symbols["t"]
    if equations.parameters:
        inputs["p"] = equations.symbols["p"]
    rates = ca.cse(equations.state.rates())
    return record(ca.Function("rates", list(inputs.values()), [rates], list(inputs), ["rate"]))


def _check_distinct(names: Sequence[str]) -> None:
    """Equations in which one name means two things cannot be read."""
    for name, count in Counter(names).items():
        if count > 1:
            raise LinkwrightError(
                f"'{name}' names two symbols of the equations",
                remedy="rename a parameter or joint, or use --parameters numeric",
            )


Written = Mapping[str, _Written | _Closed]
_EQUATION = "M(q) q̈ + C(q, q̇) q̇ + g(q) = τ + f(q, q̇)"
_CONSTRAINED = " + J(q)ᵀ λ,  J(q) q̈ + γ(q, q̇) = 0"


def _equation(equations: Equations) -> str:
    return f"{_EQUATION}{_CONSTRAINED if equations.names.constraints else ''}"


def _text(equations: Equations, written: Written) -> None:
    names = equations.names
    free = len(names.independent) if names.constraints else names.nv
    count = f"{free} freedom{'s' if free != 1 else ''}"
    print(f"{printable(equations.mechanism.name)}, {count}, by {equations.by}")
    print(f"{_equation(equations)}\n")
    for name, one in written.items():
        print(f"{name}: {one.what} ({one.size})")
        for step, value in one.steps:
            print(f"    {step} = {to_text(value)}")
        for labels, value in one.rows:
            print(f"  {' = '.join(labels)} = {to_text(value)}")
        print()


def _dotted(equations: Equations) -> dict[str, tuple[str, int]]:
    once = {f"d{name}": (name, 1) for name in equations.names.qd}
    return once | {f"dd{name}": (name, 2) for name in equations.names.qd}


def _latex(equations: Equations, written: Written) -> None:
    setter = Typesetter(LatexSetter(), _dotted(equations))
    print(f"% {printable(equations.mechanism.name)}, by {equations.by}")
    print(f"% {_equation(equations)}")
    for name, one in written.items():
        rows = [f"{setter.name(step)} &= {setter.set(value)}" for step, value in one.steps]
        for labels, value in one.rows:
            left = " = ".join(setter.entry(label) for label in labels)
            rows.append(f"{left} &= {setter.set(value)}")
        body = " \\\\\n  ".join(rows)
        print(f"% {name}: {printable(one.what)} ({one.size})")
        print(f"\\begin{{align*}}\n  {body}\n\\end{{align*}}")


def _html(equations: Equations, written: Written) -> None:
    setter = Typesetter(MathmlSetter(), _dotted(equations))

    def row(left: str, right: str) -> str:
        return f"<mtr><mtd>{left}</mtd><mtd><mo>=</mo></mtd><mtd>{right}</mtd></mtr>"

    sections = []
    for name, one in written.items():
        rows = [row(setter.name(step), setter.set(value)) for step, value in one.steps]
        for labels, value in one.rows:
            left = "<mo>=</mo>".join(setter.entry(label) for label in labels)
            rows.append(row(f"<mrow>{left}</mrow>", setter.set(value)))
        table = f'<div><math displaystyle="true"><mtable>{"".join(rows)}</mtable></math></div>'
        heading = name.replace("_", " ").capitalize()
        about = escape(one.what) if one.is_closed else escape(f"{one.what} ({one.size})")
        sections.append(f"<h2>{heading}</h2><p>{about}</p>{table}")
    title = escape(equations.mechanism.name)
    print(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        "<style>body{font-family:system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em}"
        "div{overflow-x:auto;margin-left:1.5em}math{font-size:1.1em}"
        "mtd{padding:.25em .3em;text-align:left}</style></head>"
        f"<body><h1>{title}</h1><p>{escape(_equation(equations))}</p>"
        f"<p>Formulation: {equations.by}</p>"
        f"{''.join(sections)}</body></html>"
    )


def _json(equations: Equations, written: Written) -> None:
    functions = {
        name: {
            "what": one.what,
            "operations": one.operations,
            "closed": one.is_closed,
            "steps": {step: to_text(value) for step, value in one.steps},
            "results": {label: to_text(value) for labels, value in one.rows for label in labels},
        }
        for name, one in written.items()
    }
    parameters = {name: float(value) for name, value in equations.parameters.items()}
    found = {
        "mechanism": equations.mechanism.name,
        "by": equations.by,
        "equation": _EQUATION,
        "q": list(equations.names.q),
        "qd": list(equations.names.qd),
        "parameters": parameters,
        "functions": functions,
    }
    emit_json(found)
