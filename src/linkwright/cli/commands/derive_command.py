"""`linkwright derive`: the equations in closed form, or step by step where that is too long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import LinkwrightError, NameNotFoundError, UnsupportedError, suggest_remedy
from .. import options
from ..command import register_command
from ..command_output import (
    CommandOutcome,
    escape_for_terminal,
    print_command_json,
    show_command_progress,
)

if TYPE_CHECKING:
    from ...equations import Equations
    from ...forms import TypesetEquationSet

PARAMETER_CHOICES = ("symbolic", "numeric", "base")


@register_command("Equations")
def derive(
    mechanism: options.MechanismFile,
    *,
    by: options.FormulationOption = "recursive",
    as_: Annotated[str | None, typer.Option("--as", metavar="FORMAT")] = None,
    what: Annotated[list[str] | None, typer.Option(metavar="NAME,…"), options.NAME_LIST_CONVERSION],
    parameters: str = "symbolic",
    speeds: Annotated[str | None, typer.Option(metavar="TEXT")] = None,
    steps: bool = False,
    beta: options.BetaOption = None,
    gamma: options.GammaOption = None,
    iterations: options.IterationsOption = None,
    as_json: options.JsonFlag = False,
) -> CommandOutcome:
    """Derive the equations of motion and print them in the form of the formulation.

    Equations longer than a page are printed as named variables in the order of computation.

    Parameters
    ----------
    as_
        text (default), latex, html or json.
    what
        Quantities to print: mass_matrix or M, C, g, tau, qdd, christoffel, H, momenta, linearized,
        jacobian:tool, …; state_rates: the rates of the formulation's own states; symbols of the
        checker: dp1, ddx2, L_dq1.
    parameters
        'symbolic', 'numeric', 'base', or the names to keep as symbols, separated by commas.
    speeds
        Generalized speeds for --by kane: 'u1 = dq1 + dq2; u2 = dq2'.
    steps
        Print the derivation line by line (with --by lagrange; other formulations with their own
        equations say that they have none), or with --what the steps of the computation instead
        of closed forms.

    Examples
    --------
    linkwright derive elbow --as latex
    """
    form = as_ or ("json" if as_json else "text")
    if as_json and form != "json":
        raise LinkwrightError(f"--as {form} and --json are both given", remedy="give one of them")
    if form not in EQUATION_FORMATS:
        raise LinkwrightError(
            f"--as {form} is not known", remedy=f"use {', '.join(EQUATION_FORMATS)}"
        )
    given = {"speeds": speeds, "beta": beta, "gamma": gamma, "iterations": iterations}
    chosen = {name: value for name, value in given.items() if value is not None}
    equations = _derive_command_equations(mechanism, by, parameters, **chosen)
    found = _command_equation_set(equations, what, steps)
    if form == "json":
        data = _derive_command_json(equations, found)
        return CommandOutcome(data, lambda: print_command_json(data))
    return CommandOutcome(None, lambda: EQUATION_PRINTERS[form](equations, found))


def _derive_command_equations(
    mechanism: options.MechanismFile, by: str, parameters: str, **chosen: object
) -> Equations:
    """Derive the equations of a mechanism that can move."""
    from ... import formulations

    kept = parameters if parameters in PARAMETER_CHOICES else parameters.split(",")
    with show_command_progress(f"deriving {mechanism.name} by {by}"):
        equations = formulations.derive(mechanism, by=by, parameters=kept, **chosen)
    if equations.nv == 0:
        raise UnsupportedError(
            f"{mechanism.name} cannot move: it has no degrees of freedom",
            remedy="add a joint, or unlock one",
        )
    return equations


def _command_equation_set(
    equations: Equations, what: Sequence[str] | None, steps: bool
) -> TypesetEquationSet:
    """The equations in the form of their formulation, or the quantities that `what` names."""
    from ...forms import full_quantity_name
    from ...forms.equation_set_typesetting import typeset_equation_set, typeset_quantities

    has_own_form = equations.own_equation_set is not None
    if what is None and (not steps or has_own_form or equations.derivation_steps is not None):
        with show_command_progress("writing the equations"):
            return typeset_equation_set(equations, steps=steps)
    names = [full_quantity_name(equations, name) for name in what or ()]
    _check_what_option(equations, names)
    with show_command_progress(f"writing {', '.join(names) or 'the equations'}"):
        return typeset_quantities(equations, names or None, steps=steps)


def _check_what_option(equations: Equations, what: Sequence[str]) -> None:
    """Refuses quantities that the equations do not have."""
    from ...checking.symbol_forms import find_symbol_source
    from ...forms import SHORT_QUANTITY_NAMES, closed_form_quantities
    from ...forms.closed_forms import has_named_line_or_symbol
    from ...forms.quantity_typesetting import typesettable_functions
    from ...quantities import FRAME_SIGNATURES

    known = [*typesettable_functions(equations), *closed_form_quantities(equations)]
    for name in what:
        quantity, _, frame = name.partition(":")
        if name in known or (frame and quantity in FRAME_SIGNATURES):
            continue
        if not frame and has_named_line_or_symbol(equations, name):
            continue
        if find_symbol_source(equations, name) is not None:
            continue
        remedy = suggest_remedy(name, [*known, *SHORT_QUANTITY_NAMES])
        if quantity in FRAME_SIGNATURES:
            remedy = f"name a frame or body: {quantity}:{equations.names.bodies[-1]}"
        raise NameNotFoundError(f"unknown quantity '{name}'", remedy=remedy)


def _print_equations_text(equations: Equations, found: TypesetEquationSet) -> None:
    """Prints the equations as plain text."""
    names = equations.names
    free = len(names.independent) if names.constraints else names.nv
    count = f"{free} degree{'s' if free != 1 else ''} of freedom"
    print(f"{escape_for_terminal(equations.mechanism.name)}, {count}, by {equations.by}")
    print(found.text())


def _print_equations_latex(equations: Equations, found: TypesetEquationSet) -> None:
    """Prints the equations as LaTeX."""
    print(f"% {escape_for_terminal(equations.mechanism.name)}, by {equations.by}")
    print(found.latex())


def _print_equations_html(equations: Equations, found: TypesetEquationSet) -> None:
    """Prints the equations as an HTML page."""
    from ...report.equations_page import equation_set_page

    print(equation_set_page(equations.mechanism.name, found), end="")


def _derive_command_json(equations: Equations, found: TypesetEquationSet) -> dict[str, Any]:
    """Returns the equations as data for `--json`."""
    from ...expressions import expression_text
    from ...written_equations import equation_of_motion_text

    functions = {
        one.name: {
            "what": one.what,
            "operations": one.operations,
            "closed": one.is_closed,
            "steps": {step: expression_text(value) for step, value in one.steps},
            "results": {
                label: expression_text(value) for labels, value in one.rows for label in labels
            },
        }
        for section in found.sections
        for one in section.quantities
    }
    parameters = {
        name: float(value)
        for name, value in equations.parameters.items()
        if name not in equations.constants
    }
    counts = found.source.counts
    return {
        "mechanism": equations.mechanism.name,
        "by": equations.by,
        "equation": equation_of_motion_text(equations.names),
        "q": list(equations.names.q),
        "qd": list(equations.names.qd),
        "parameters": parameters,
        "counts": {
            "equations": counts.equations,
            "unknowns": counts.unknowns,
            "states": counts.states,
            "matrices": {name: list(shape) for name, shape in counts.matrices.items()},
        },
        "sections": [section.json() for section in found.sections],
        "symbols": dict(found.source.symbols),
        "functions": functions,
    }


EQUATION_PRINTERS = {
    "text": _print_equations_text,
    "latex": _print_equations_latex,
    "html": _print_equations_html,
}
EQUATION_FORMATS = (*EQUATION_PRINTERS, "json")
