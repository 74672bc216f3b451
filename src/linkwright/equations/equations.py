"""Equations of motion: the one result that every formulation returns.

    M(q) q̈ + C(q, q̇) q̇ + g(q) = τ + f(q, q̇, t) + J(q)ᵀ λ

A formulation provides builders for some functions; the others follow from these here. Every
expression is built once, when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import casadi as ca

from ..algebra.expression_copies import SymbolTable, copy_casadi_expressions
from ..algebra.operators import direct_casadi_operators
from ..conveniences import find_convenience
from ..displays import SummarizedResult
from ..errors import NameNotFoundError, UnsupportedError, suggest_remedy
from ..expressions import PI, ExactNumber
from ..mechanism import Mechanism, MechanismNames
from ..quantities import function_error, quantity_signatures
from ..types import SX, FormulationResult
from ..written_equations import EquationSet
from .casadi_functions import (
    FunctionTable,
    make_casadi_function,
    substitute_parameter_values,
)
from .completed_functions import FUNCTION_COMPLETIONS
from .equation_properties import EquationProperties
from .formulation_state import ExpressionBuilder, FormulationState, FrameBuilder

if TYPE_CHECKING:
    from ..forms import ClosedForm, TypesetEquationSet


@dataclass(frozen=True, repr=False)
class Equations(EquationProperties, SummarizedResult):
    """Equations of motion of a mechanism, derived by one formulation.

    `mechanism` and its `names` were derived by the formulation `by`. `symbols` maps q, qd, qdd,
    tau, … to CasADi columns; `parameters` maps the names of the symbols in the column p to their
    values; `rate_matrix` is N(q) with dq/dt = N(q)·q̇; `neutral` is q without displacement;
    `inertial_parameters` is the column π. `builders` and `frame_builders` make expressions. If the
    equations are complete (`is_complete`), functions without a builder follow from others;
    `absent_functions` has the reasons for missing ones. `extras` are results that only this
    formulation has; `state` has its own states if they are not (q, q̇). `home` is q where loops and
    constraints close, `assembly_failure` the reason if they do not, and `closure_leeway` the
    residual that nearly redundant ones may keep (m, rad). `literals` are parameters that are
    printed as numbers. `passive_parts` are the springs that are printed with named lengths, and the
    rest of `passive`. `own_equation_set` makes the equations that the formulation prints,
    `derivation_steps` their derivation. `derived_by`, kept as `derivation`, derives them again. The
    class has more than 20 methods because users read every quantity from it.

    Examples
    --------
    >>> import linkwright as lw
    >>> print(lw.derive(lw.gallery("elbow")).closed_form("V"))
    V = (m1*lc1 + m2*l1)*g*sin(q1) + m2*g*lc2*sin(q1 + q2)
    """

    mechanism: Mechanism
    by: str
    symbols: Mapping[str, SX]
    names: MechanismNames
    parameters: Mapping[str, ExactNumber]
    rate_matrix: SX
    neutral: tuple[float, ...]
    builders: Mapping[str, ExpressionBuilder]
    frame_builders: Mapping[str, FrameBuilder]
    inertial_parameters: SX
    extras: Mapping[str, ExpressionBuilder] = field(default_factory=dict)
    state: FormulationState | None = None
    home: tuple[float, ...] = ()
    assembly_failure: str = ""
    closure_leeway: float = 0.0
    is_complete: bool = True
    absent_functions: Mapping[str, str] = field(default_factory=dict)
    literals: Mapping[str, Fraction] = field(default_factory=dict)
    passive_parts: Callable[[], tuple[tuple[Any, ...], SX]] | None = None
    own_equation_set: Callable[[], EquationSet] | None = None
    derivation_steps: Callable[[], EquationSet] | None = None
    derived_by: InitVar[Callable[[], Equations] | None] = None
    derivation: Callable[[], Equations] | None = field(init=False, compare=False)
    _built: dict[tuple[str, ...], Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self, derived_by: Callable[[], Equations] | None) -> None:
        object.__setattr__(self, "symbols", SymbolTable(self.symbols))
        object.__setattr__(self, "parameters", MappingProxyType(self.parameters))
        object.__setattr__(self, "derivation", derived_by)

    @property
    def is_derived(self) -> bool:
        """Whether `derive` gave these equations, and they are not a changed copy."""
        return self.derivation is not None

    def summary(self) -> str:
        """Return one line: the mechanism, the formulation and the sizes."""
        return f"Equations of {self.mechanism.name} by {self.by}: nq={self.nq}, nv={self.nv}"

    def __str__(self) -> str:
        functions = f"functions: {', '.join(sorted(self.function_names()))}"
        return f'{self.summary()}\n{functions}\nreadable: closed_form("M"), latex("M")'

    def __reduce__(self) -> tuple[Any, ...]:
        if self.derivation is None:
            raise UnsupportedError(
                "a changed copy of equations cannot be pickled",
                remedy="pickle what `derive` gave, and change that again",
            )
        return self.derivation, ()

    @cached_property
    def constants(self) -> dict[str, ExactNumber]:
        """The parameters that are mere numbers: literals of expressions, and π."""
        return {k: v for k, v in self.parameters.items() if k in self.literals or k == PI}

    def can_build(self, name: str) -> bool:
        """Return whether the function `name` exists for this mechanism.

        C follows from M only where velocities are rates of coordinates.

        Parameters
        ----------
        name : str
            A function, such as "coriolis_matrix".

        Returns
        -------
        bool
        """
        return name != "coriolis_matrix" or name in self.builders or self.nq == self.nv

    def function_names(self) -> list[str]:
        """Return the names of the functions that these equations have."""
        own = {*self.builders, *self._completion_builders}
        return [name for name in quantity_signatures(self.names) if name in own]

    @property
    def _completion_builders(self) -> Mapping[str, Callable[[Equations], Any]]:
        return (
            FUNCTION_COMPLETIONS if self.is_complete else {"forces": FUNCTION_COMPLETIONS["forces"]}
        )

    def expressions(self, name: str, *frame: str) -> tuple[SX, ...]:
        """Return the CasADi expressions of the outputs of a function.

        Parameters
        ----------
        name : str
            A function, such as "mass_matrix"; `function_names` lists them.
        *frame : str
            A frame or body, for functions of frames such as "jacobian".

        Returns
        -------
        tuple of casadi.SX
            One expression for each output, in the symbols `self.symbols`, SI units.

        Examples
        --------
        >>> import linkwright as lw
        >>> (T,) = lw.derive(lw.gallery("elbow")).expressions("placement", "tool")
        >>> T.shape
        (4, 4)
        """
        key = (name, *frame)
        if key not in self._built:
            self._built[key] = self._build_expressions(name, *frame)
        made: tuple[SX, ...] = copy_casadi_expressions(self._built[key])
        return made

    @direct_casadi_operators()
    def _build_expressions(self, name: str, *frame: str) -> tuple[SX, ...]:
        made: Any
        if frame:
            made = self.frame_builders[name](*frame)
        elif name in self.builders:
            made = self.builders[name]()
        elif name in self._completion_builders:
            made = self._completion_builders[name](self)
        elif name in self.absent_functions:
            raise UnsupportedError(f"{name} is not available: {self.absent_functions[name]}")
        else:
            known = sorted({*self.function_names(), *self.frame_builders})
            raise function_error(name, self.by, self.names, known)
        return made if isinstance(made, tuple) else (made,)

    def extra(self, name: str) -> FormulationResult:
        """Return a result that only this formulation has, such as Hamilton's function.

        Parameters
        ----------
        name : str
            A key of `extras`.

        Returns
        -------
        casadi.SX, or a table or record of these
            Expressions in the symbols `self.symbols`, SI units.

        Examples
        --------
        >>> import linkwright as lw
        >>> lw.derive(lw.gallery("elbow"), by="hamilton").extra("momenta").shape
        (2, 1)
        """
        if name not in self.extras:
            raise NameNotFoundError(
                f"the formulation '{self.by}' has no result '{name}'",
                remedy=suggest_remedy(name, list(self.extras)),
            )
        if ("extra", name) not in self._built:
            with direct_casadi_operators():
                self._built["extra", name] = self.extras[name]()
        return copy_casadi_expressions(self._built["extra", name])

    def function(self, name: str, *frame: str) -> ca.Function:
        """Return a function as a `casadi.Function`.

        Parameters
        ----------
        name : str
            A function, such as "mass_matrix"; `function_names` lists them.
        *frame : str
            A frame or body, for functions of frames such as "jacobian".

        Returns
        -------
        casadi.Function
            Its last input p has the parameters that are still symbols.

        Examples
        --------
        >>> import linkwright as lw
        >>> lw.derive(lw.gallery("elbow")).function("placement", "tool")
        Function(placement:(q[2],p[9])->(T[4x4]) SXFunction)
        """
        key = ("function", name, *frame)
        if key not in self._built:
            self._built[key] = make_casadi_function(self, name, *frame)
        function: ca.Function = self._built[key]
        return function

    def function_at_values(self, name: str, *frame: str, keep: Sequence[str] = ()) -> ca.Function:
        """Return a function in which parameters have their values.

        Parameters
        ----------
        name : str
            A function, such as "mass_matrix"; `function_names` lists them.
        *frame : str
            A frame or body, for functions of frames such as "jacobian".
        keep : sequence of str
            Parameters that stay symbols: the entries of the last input p, in this order.

        Returns
        -------
        casadi.Function
            Without an input p if nothing is kept.

        Examples
        --------
        >>> import linkwright as lw
        >>> gravity = lw.derive(lw.gallery("elbow")).function_at_values("gravity", keep=["m2"])
        >>> gravity([0, 0], 2.0)
        DM([34.335, 9.81])
        """
        if tuple(keep) == tuple(self.parameters):
            return self.function(name, *frame)
        key = ("folded", *keep, "of", name, *frame)
        if key not in self._built:
            self._built[key] = substitute_parameter_values(
                self.function(name, *frame), self.parameters, keep
            )
        function: ca.Function = self._built[key]
        return function

    def functions(self) -> Mapping[str, ca.Function]:
        """Return all functions by name, each made when it is looked up.

        Returns
        -------
        mapping of str to casadi.Function
            As from `function`; functions of frames are not in it.
        """
        return FunctionTable(self)

    def equation_set(self, *, steps: bool = False) -> TypesetEquationSet:
        """Return the equations in the form of their formulation, section by section.

        Parameters
        ----------
        steps : bool
            Return the derivation line by line, if the formulation has one ("lagrange").

        Returns
        -------
        TypesetEquationSet
            It prints as text, and notebooks show it typeset; `.latex()` and `.html()` return it.

        Examples
        --------
        >>> import linkwright as lw
        >>> steps = lw.derive(lw.gallery("elbow"), by="lagrange").equation_set(steps=True)
        >>> print(steps.text().splitlines()[4])
          x1 = lc1*cos(q1)    (1)
        """
        found: TypesetEquationSet = find_convenience("Equations.equation_set")(self, steps=steps)
        return found

    def closed_form(self, name: str = "M", *frame: str, **options: object) -> ClosedForm:
        """Return a quantity in closed form, readable and canonical.

        Parameters
        ----------
        name : str
            "M", "C", "g", "tau", "qdd", "christoffel", "state_rates", any function, or a symbol of
            the checker such as "dp1"; docs/explanation/closed-forms.md lists them.
        *frame : str
            A frame or body, for functions of frames such as "jacobian".
        **options
            `parameters`: "symbolic" (default), "numeric", or a list of names that stay symbols;
            `terms`: the largest number of terms of a polynomial (default: 20,000);
            `seconds`: the largest time, s (default: 10).

        Returns
        -------
        ClosedForm
            It prints as text, and notebooks show it typeset; == compares functions.

        Raises
        ------
        BudgetError
            If the form exceeds `terms` or `seconds`.

        Examples
        --------
        >>> import linkwright as lw
        >>> eqs = lw.derive(lw.gallery("elbow"))
        >>> print(eqs.closed_form("g", parameters=["m2", "g"]).text())
        g[1] = (m2 + 1/2)*g*cos(q1) + 1/2*m2*g*cos(q1 + q2)
        g[2] = 1/2*m2*g*cos(q1 + q2)
        """
        form: ClosedForm = find_convenience("Equations.closed_form")(self, name, *frame, **options)
        return form

    def latex(self, name: str = "M", *frame: str, **options: object) -> str:
        """Return a quantity in closed form as LaTeX.

        Parameters
        ----------
        name : str
            The quantity, as for `closed_form`.
        *frame : str
            A frame or body, for functions of frames.
        **options
            As for `closed_form`.

        Returns
        -------
        str
            An `aligned` environment.
        """
        return self.closed_form(name, *frame, **options).latex()

    def _repr_latex_(self) -> str | None:
        """M, C and g for notebooks, where they fit on a page."""
        page: str | None = find_convenience("Equations._repr_latex_")(self)
        return page

    def tangent_jacobian(self, expression: SX) -> SX:
        """Return the derivative of an expression with respect to q, along the tangent.

        Parameters
        ----------
        expression : casadi.SX
            A column in the symbols `self.symbols`.

        Returns
        -------
        casadi.SX
            One row for each entry of the expression, nv columns.
        """
        return ca.jacobian(expression, self.symbols["q"]) @ self.rate_matrix
