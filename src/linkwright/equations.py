"""Equations of motion: the one result that every formulation returns.

    M(q) q̈ + C(q, q̇) q̇ + g(q) = τ + f(q, q̇, t) + J(q)ᵀ λ

A formulation provides builders for some functions; the others follow from these here. Every
expression is built once, when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import casadi as ca

from .algebra.expression_copies import SymbolTable, copy_casadi_expressions
from .algebra.linear_algebra import solve_symmetric_matrix
from .algebra.operators import direct_casadi_operators
from .conveniences import find_convenience
from .displays import SummarizedResult
from .errors import NameNotFoundError, UnsupportedError, suggest_remedy
from .expressions import PI, ExactNumber
from .mechanism import Mechanism, MechanismNames
from .quantities import FRAME_SIGNATURES, function_error, quantity_inputs, quantity_signatures
from .types import SX, FormulationResult
from .written_equations import EquationSet, WrittenAccelerations

if TYPE_CHECKING:
    from .forms import ClosedForm, TypesetEquationSet

ExpressionBuilder = Callable[[], Any]
FrameBuilder = Callable[[str], Any]


@dataclass(frozen=True)
class FormulationState:
    """A formulation's own states x, with ẋ = F(x, τ) and the maps between x and (q, q̇).

    `rates_from_motion` is ẋ as a function of x, q, q̇ and q̈, for states that are redundant and
    follow from (q, q̇): integration errors then violate this, and `from_motion` of `to_motion`
    restores it. `nearby_coordinates` are symbols of the coordinates `ambiguous_coordinates`, which
    x determines up to whole turns; `rates` and `to_motion` use them only to choose the turn.
    Where springs hold superabundant coordinates, which follow q in x, `energies` are T, V, powers
    of other constraint forces (lost, given), and `written_accelerations` what is printed."""

    names: tuple[str, ...]
    x: SX
    rates: ExpressionBuilder
    from_motion: ExpressionBuilder
    to_motion: Callable[[], tuple[SX, SX]]
    rates_from_motion: ExpressionBuilder | None = None
    nearby_coordinates: SX = field(default_factory=lambda: ca.SX(0, 1))
    ambiguous_coordinates: tuple[int, ...] = ()
    energies: Callable[[], tuple[SX, SX, SX, SX]] | None = None
    written_accelerations: Callable[[], WrittenAccelerations] | None = None

    def __post_init__(self) -> None:
        for name in ("rates", "from_motion", "to_motion", "rates_from_motion", "energies"):
            if (build := getattr(self, name)) is not None:
                object.__setattr__(self, name, direct_casadi_operators()(build))


@dataclass(frozen=True, repr=False)
class Equations(SummarizedResult):
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

    @property
    def nq(self) -> int:
        """Number of generalized coordinates."""
        return self.names.nq

    @property
    def nv(self) -> int:
        """Number of generalized velocities."""
        return self.names.nv

    @cached_property
    def constants(self) -> dict[str, ExactNumber]:
        """The parameters that are mere numbers: literals of expressions, and π."""
        return {k: v for k, v in self.parameters.items() if k in self.literals or k == PI}

    @property
    def M(self) -> SX:
        """Mass matrix, nv × nv."""
        return self.expressions("mass_matrix")[0]

    @property
    def C(self) -> SX:
        """Coriolis matrix of the Christoffel symbols, nv × nv."""
        return self.expressions("coriolis_matrix")[0]

    @property
    def g(self) -> SX:
        """Gravity vector ∂V/∂q, nv."""
        return self.expressions("gravity")[0]

    @property
    def J(self) -> SX:
        """Constraint Jacobian, constraints × nv: rows in the order of `names.constraints`."""
        return self.expressions("constraint_jacobian")[0]

    @property
    def f(self) -> SX:
        """All forces but τ, weight and constraint forces: springs, dampers, friction, loads."""
        return self.expressions("forces")[0]

    def can_build(self, name: str) -> bool:
        """Return whether the function `name` exists for this mechanism.

        C follows from M only where velocities are rates of coordinates.
        """
        return name != "coriolis_matrix" or name in self.builders or self.nq == self.nv

    def function_names(self) -> list[str]:
        """Return the names of the functions that these equations have."""
        own = {*self.builders, *self._completion_builders}
        return [name for name in quantity_signatures(self.names) if name in own]

    @property
    def _completion_builders(self) -> Mapping[str, Callable[[Equations], Any]]:
        return _COMPLETIONS if self.is_complete else {"forces": _COMPLETIONS["forces"]}

    def expressions(self, name: str, *frame: str) -> tuple[SX, ...]:
        """Return the CasADi expressions of the outputs of the function `name` (of a `frame`)."""
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
        """Return the result `name` that only this formulation has, such as Hamilton's function."""
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
        """Return the function `name` (of a `frame`) as a `casadi.Function`.

        Its last input p has the parameters that are still symbols.
        """
        key = ("function", name, *frame)
        if key not in self._built:
            self._built[key] = self._make_function(name, *frame)
        function: ca.Function = self._built[key]
        return function

    def _make_function(self, name: str, *frame: str) -> ca.Function:
        expressions = self.expressions(name, *frame)
        signature = FRAME_SIGNATURES[name] if frame else quantity_signatures(self.names)[name]
        inputs = {key: self.symbols[key] for key in quantity_inputs(signature, self.names)}
        if self.parameters:
            inputs["p"] = self.symbols["p"]
        merged = ca.cse([ca.SX(e) for e in expressions])
        outputs = list(signature.outputs)
        return ca.Function(name, list(inputs.values()), merged, list(inputs), outputs)

    def function_at_values(self, name: str, *frame: str, keep: Sequence[str] = ()) -> ca.Function:
        """Return the function `name` (of a `frame`) with parameters at their values.

        Those to `keep` become its input p.
        """
        if tuple(keep) == tuple(self.parameters):
            return self.function(name, *frame)
        key = ("folded", *keep, "of", name, *frame)
        if key not in self._built:
            self._built[key] = self._substitute_values(self.function(name, *frame), name, keep)
        function: ca.Function = self._built[key]
        return function

    def _substitute_values(
        self, function: ca.Function, name: str, keep: Sequence[str]
    ) -> ca.Function:
        kept = {parameter: ca.SX.sym(parameter) for parameter in keep}
        p = ca.vertcat(*(kept.get(k, float(v)) for k, v in self.parameters.items()))
        inputs = [function.sx_in(i) for i in range(function.n_in() - 1)]
        outputs = function.call([*inputs, p])
        names = [function.name_in(i) for i in range(len(inputs))]
        if kept:
            inputs.append(ca.vertcat(*kept.values()))
            names.append("p")
        return ca.Function(name, inputs, ca.cse(outputs), names, function.name_out())

    def functions(self) -> Mapping[str, ca.Function]:
        """Return all functions by name as `casadi.Function`s, each made when it is looked up."""
        return _FunctionTable(self)

    def equation_set(self, *, steps: bool = False) -> TypesetEquationSet:
        """Return the equations in the form of their formulation, section by section.

        With `steps`: the derivation line by line, if the formulation has one (lagrange).
        """
        found: TypesetEquationSet = find_convenience("Equations.equation_set")(self, steps=steps)
        return found

    def closed_form(self, name: str = "M", *frame: str, **options: object) -> ClosedForm:
        """Return a quantity in closed form, readable and canonical.

        `name` is "M", "mass_matrix", "dp1", …; "jacobian" and other functions of frames also take a
        `frame`. The `options` are those of `linkwright.forms.closed_form`.
        """
        form: ClosedForm = find_convenience("Equations.closed_form")(self, name, *frame, **options)
        return form

    def latex(self, name: str = "M", *frame: str, **options: object) -> str:
        """Return the closed form in LaTeX; `name`, `frame` and `options` as for `closed_form`."""
        return self.closed_form(name, *frame, **options).latex()

    def _repr_latex_(self) -> str | None:
        """M, C and g for notebooks, where they fit on a page."""
        page: str | None = find_convenience("Equations._repr_latex_")(self)
        return page

    def tangent_jacobian(self, expression: SX) -> SX:
        """Return the derivative of an `expression` by q along the tangent, nv columns."""
        return ca.jacobian(expression, self.symbols["q"]) @ self.rate_matrix


class _FunctionTable(Mapping[str, ca.Function]):
    def __init__(self, equations: Equations) -> None:
        self.equations = equations

    def __getitem__(self, name: str) -> ca.Function:
        if name not in self.equations.function_names():
            raise KeyError(name)
        return self.equations.function(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.equations.function_names())

    def __len__(self) -> int:
        return len(self.equations.function_names())


# -- what follows from what formulations give --------------------------------------------


def _complete_forward_dynamics(eqs: Equations) -> SX:
    rest = eqs.symbols["tau"] - eqs.expressions("bias")[0]
    return ca.SX(solve_symmetric_matrix(eqs.M, rest))


def _complete_coriolis_matrix(eqs: Equations) -> SX:
    """½ ∂(C q̇)/∂q̇, which is Christoffel's C, since C q̇ is quadratic in the velocities."""
    if eqs.nq != eqs.nv:
        raise NameNotFoundError(
            f"the formulation '{eqs.by}' has no coriolis_matrix where velocities are not rates",
            remedy="use 'recursive', or rotation = \"cardan\"",
        )
    (bias,) = eqs.expressions("bias")
    return ca.jacobian(bias + eqs.f, eqs.symbols["qd"]) / 2


def _complete_inverse_with_wrenches(eqs: Equations) -> SX:
    (tau,) = eqs.expressions("inverse_dynamics")
    return tau - wrench_generalized_forces(eqs)


def _complete_forward_with_wrenches(eqs: Equations) -> tuple[SX, ...]:
    qdd, *pivot = eqs.expressions("forward_dynamics")
    tau = eqs.symbols["tau"]
    return ca.substitute(qdd, tau, tau + wrench_generalized_forces(eqs)), *pivot


def wrench_generalized_forces(eqs: Equations) -> SX:
    """The generalized forces Σ Jᵀ w of the wrenches on the bodies."""
    rows = ca.vertsplit(eqs.symbols["wrenches"])
    jacobians = (eqs.expressions("jacobian", body)[0] for body in eqs.names.bodies)
    return sum((J.T @ row.T for J, row in zip(jacobians, rows, strict=True)), ca.SX.zeros(eqs.nv))


def _complete_inverse_derivatives(eqs: Equations) -> tuple[SX, ...]:
    tau, *pivot = eqs.expressions("inverse_dynamics")
    by_qdd = ca.jacobian(tau, eqs.symbols["qdd"]) if eqs.names.constraints else eqs.M
    return eqs.tangent_jacobian(tau), ca.jacobian(tau, eqs.symbols["qd"]), by_qdd, *pivot


def _complete_forward_derivatives(eqs: Equations) -> tuple[SX, ...]:
    qdd, *pivot = eqs.expressions("forward_dynamics")
    by_qd, by_tau = (ca.jacobian(qdd, eqs.symbols[key]) for key in ("qd", "tau"))
    return eqs.tangent_jacobian(qdd), by_qd, by_tau, *pivot


_COMPLETIONS: dict[str, Callable[[Equations], Any]] = {
    "inverse_dynamics": lambda eqs: (
        eqs.M @ eqs.symbols["qdd"] + eqs.C @ eqs.symbols["qd"] + eqs.g - eqs.f
    ),
    "forward_dynamics": _complete_forward_dynamics,
    "forces": lambda eqs: eqs.expressions("passive")[0] + eqs.expressions("external")[0],
    "coriolis_matrix": _complete_coriolis_matrix,
    "inverse_dynamics_with_wrenches": _complete_inverse_with_wrenches,
    "forward_dynamics_with_wrenches": _complete_forward_with_wrenches,
    "bias": lambda eqs: ca.substitute(
        eqs.expressions("inverse_dynamics")[0], eqs.symbols["qdd"], ca.SX.zeros(eqs.nv)
    ),
    "inverse_dynamics_derivatives": _complete_inverse_derivatives,
    "forward_dynamics_derivatives": _complete_forward_derivatives,
}
