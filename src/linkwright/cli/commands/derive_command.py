"""`linkwright derive`: the equations in closed form, or step by step where that is too long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import LinkwrightError, NameNotFoundError, UnsupportedError, suggest
from .. import options
from ..command import command
from ..output import Outcome, emit_json, printable, working

if TYPE_CHECKING:
    from ...equations import Equations
    from ...forms.sheet import Sheet

WHOLE = ("symbolic", "numeric", "base")


@command("Equations")
def derive(
    mechanism: options.MechanismFile,
    *,
    by: options.Formulation = "recursive",
    as_: Annotated[str | None, typer.Option("--as", metavar="FORMAT")] = None,
    what: Annotated[list[str] | None, typer.Option(metavar="NAME,…"), options.NAMES],
    parameters: str = "symbolic",
    steps: bool = False,
    as_json: options.JsonFlag = False,
) -> Outcome:
    """Derive the equations of motion and print them in closed form.

    Equations longer than a page are printed as named variables in the order of computation.

    Parameters
    ----------
    as_
        text (default), latex, html or json.
    what
        Quantities to print: mass_matrix or M, C, g, tau, qdd, christoffel, H, momenta, linearised,
        jacobian:tool, …; state_rates: the rates of the formulation's own states.
    parameters
        'symbolic', 'numeric', 'base', or the names to keep as symbols, separated by commas.
    steps
        Print the steps of the computation instead of closed forms.

    Examples
    --------
    linkwright derive elbow --as latex
    """
    form = as_ or ("json" if as_json else "text")
    if as_json and form != "json":
        raise LinkwrightError(f"--as {form} and --json are both given", remedy="give one of them")
    if form not in FORMATS:
        raise LinkwrightError(f"--as {form} is not known", remedy=f"use {', '.join(FORMATS)}")
    equations, sheets = write_sheets(
        mechanism, by, what, parameters if parameters in WHOLE else parameters.split(","), steps
    )
    if form == "json":
        data = _data(equations, sheets)
        return Outcome(data, lambda: emit_json(data))
    return Outcome(None, lambda: PRINTERS[form](equations, sheets))


def write_sheets(
    mechanism: options.MechanismFile,
    by: str,
    what: Sequence[str] | None,
    parameters: str | Sequence[str],
    steps: bool = False,
) -> tuple[Equations, dict[str, Sheet]]:
    """Derive the equations, and write the quantities out (default: the usual ones)."""
    from ... import formulations
    from ...forms import SHORT
    from ...forms.sheet import sheet_of, usual_functions

    with working(f"deriving {mechanism.name} by {by}"):
        equations = formulations.derive(mechanism, by=by, parameters=parameters)
    if equations.nv == 0:
        raise UnsupportedError(
            f"{mechanism.name} cannot move: it has no joint with a freedom",
            remedy="add one, or unlock one",
        )
    names = [SHORT.get(name, name) for name in what or usual_functions(equations)]
    _check_known(equations, names)
    sheets = {}
    for name in names:
        with working(f"writing {name}"):
            sheets[name] = sheet_of(equations, name, steps=steps)
    return equations, sheets


def _check_known(equations: Equations, what: Sequence[str]) -> None:
    from ...forms import SHORT, closed_only
    from ...forms.sheet import known_functions
    from ...quantities import FRAME_SIGNATURES

    known = [*known_functions(equations), *closed_only(equations)]
    for name in what:
        quantity, _, frame = name.partition(":")
        if name in known or (frame and quantity in FRAME_SIGNATURES):
            continue
        remedy = suggest(name, [*known, *SHORT])
        if quantity in FRAME_SIGNATURES:
            remedy = f"name a frame or body: {quantity}:{equations.names.bodies[-1]}"
        raise NameNotFoundError(f"there is no quantity '{name}'", remedy=remedy)


def _print_text(equations: Equations, sheets: dict[str, Sheet]) -> None:
    from ...expressions import to_text
    from ...forms.sheet import equation_of

    names = equations.names
    free = len(names.independent) if names.constraints else names.nv
    count = f"{free} freedom{'s' if free != 1 else ''}"
    print(f"{printable(equations.mechanism.name)}, {count}, by {equations.by}")
    print(f"{equation_of(equations.names)}\n")
    for name, one in sheets.items():
        print(f"{name}: {one.what} ({one.size})")
        for step, value in one.steps:
            print(f"    {step} = {to_text(value)}")
        for labels, value in one.rows:
            print(f"  {' = '.join(labels)} = {to_text(value)}")
        print()


def _print_latex(equations: Equations, sheets: dict[str, Sheet]) -> None:
    from ...forms.sheet import equation_of

    print(f"% {printable(equations.mechanism.name)}, by {equations.by}")
    print(f"% {equation_of(equations.names)}")
    for name, one in sheets.items():
        print(f"% {name}: {printable(one.what)} ({one.size})\n{one.latex()}")


def _print_html(equations: Equations, sheets: dict[str, Sheet]) -> None:
    from markupsafe import Markup

    from ...forms.page_fonts import math_font_css
    from ...forms.sheet import equation_of
    from ...report.rendering import render

    page = render(
        "derive.html",
        title=equations.mechanism.name,
        by=equations.by,
        equation=equation_of(equations.names),
        sheets=[(one, Markup(one.mathml())) for one in sheets.values()],
        fonts=Markup(math_font_css()),
    )
    print(page)


def _data(equations: Equations, sheets: dict[str, Sheet]) -> dict[str, Any]:
    """Return what `--json` prints."""
    from ...expressions import to_text
    from ...forms.sheet import equation_of

    functions = {
        name: {
            "what": one.what,
            "operations": one.operations,
            "closed": one.is_closed,
            "steps": {step: to_text(value) for step, value in one.steps},
            "results": {label: to_text(value) for labels, value in one.rows for label in labels},
        }
        for name, one in sheets.items()
    }
    parameters = {
        name: float(value)
        for name, value in equations.parameters.items()
        if name not in equations.constants
    }
    return {
        "mechanism": equations.mechanism.name,
        "by": equations.by,
        "equation": equation_of(equations.names),
        "q": list(equations.names.q),
        "qd": list(equations.names.qd),
        "parameters": parameters,
        "functions": functions,
    }


PRINTERS = {"text": _print_text, "latex": _print_latex, "html": _print_html}
FORMATS = (*PRINTERS, "json")
