"""`linkwright derive`: the equations in closed form; where that is longer than a page, as named
intermediate variables in the order of computation."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..equations import Equations
from ..errors import LinkwrightError, NameNotFoundError, UnsupportedError, suggest
from ..expressions import to_text
from ..forms import SHORT, closed_only
from ..forms.page_fonts import math_font_css
from ..forms.sheet import Sheet, equation_of, known_functions, sheet_of, usual_functions
from ..formulations import derive
from ..kinematics.values import Parameters
from ..mechanism import Mechanism
from ..quantities import FRAME_SIGNATURES as OF_FRAMES
from .show import emit_json, printable, working

FORMATS = ("text", "latex", "html", "json")


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
    known = known_functions(equations)
    if what is None:
        what = usual_functions(equations)
    what = [SHORT.get(name, name) for name in what]
    _check_known(equations, what, known)
    written = {}
    for name in what:
        with working(f"writing {name}"):
            written[name] = sheet_of(equations, name, steps=steps)
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


def _text(equations: Equations, written: dict[str, Sheet]) -> None:
    names = equations.names
    free = len(names.independent) if names.constraints else names.nv
    count = f"{free} freedom{'s' if free != 1 else ''}"
    print(f"{printable(equations.mechanism.name)}, {count}, by {equations.by}")
    print(f"{equation_of(equations.names)}\n")
    for name, one in written.items():
        print(f"{name}: {one.what} ({one.size})")
        for step, value in one.steps:
            print(f"    {step} = {to_text(value)}")
        for labels, value in one.rows:
            print(f"  {' = '.join(labels)} = {to_text(value)}")
        print()


def _latex(equations: Equations, written: dict[str, Sheet]) -> None:
    print(f"% {printable(equations.mechanism.name)}, by {equations.by}")
    print(f"% {equation_of(equations.names)}")
    for name, one in written.items():
        print(f"% {name}: {printable(one.what)} ({one.size})\n{one.latex()}")


def _html(equations: Equations, written: dict[str, Sheet]) -> None:
    sections = []
    for name, one in written.items():
        heading = name.replace("_", " ").capitalize()
        about = escape(one.what) if one.is_closed else escape(f"{one.what} ({one.size})")
        sections.append(f"<h2>{heading}</h2><p>{about}</p><div>{one.mathml()}</div>")
    title = escape(equations.mechanism.name)
    print(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{math_font_css()}"
        "body{font-family:system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em}"
        "div{overflow-x:auto;margin-left:1.5em}math{font-size:1.1em}"
        "mtd{padding:.25em .3em;text-align:left}</style></head>"
        f"<body><h1>{title}</h1><p>{escape(equation_of(equations.names))}</p>"
        f"<p>Formulation: {equations.by}</p>"
        f"{''.join(sections)}</body></html>"
    )


def _json(equations: Equations, written: dict[str, Sheet]) -> None:
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
    parameters = {
        name: float(value)
        for name, value in equations.parameters.items()
        if name not in equations.constants
    }
    found = {
        "mechanism": equations.mechanism.name,
        "by": equations.by,
        "equation": equation_of(equations.names),
        "q": list(equations.names.q),
        "qd": list(equations.names.qd),
        "parameters": parameters,
        "functions": functions,
    }
    emit_json(found)
