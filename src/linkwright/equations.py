"""Equations of motion: the one result that every formulation returns.

    M(q) q̈ + C(q, q̇) q̇ + g(q) = τ + f(q, q̇, t) + J(q)ᵀ λ

A formulation gives builders for what it has; the rest follows here from those. Everything
is made when asked for, and once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca

from .algebra.linear import solve_symmetric
from .conveniences import convenience
from .displays import Summarized
from .errors import NameNotFoundError, UnsupportedError, suggest
from .expressions import PI, Exact
from .mechanism import Mechanism, Names
from .quantities import FRAME_SIGNATURES, inputs_of, signatures
from .types import SX

if TYPE_CHECKING:
    from .forms import ClosedForm

Builder = Callable[[], Any]
FrameBuilder = Callable[[str], Any]


@dataclass(frozen=True)
class State:
    """A formulation's own states x, with ẋ = F(x, τ) and the maps between x and (q, q̇).

    `carried` is ẋ by x, q, q̇ and q̈, where x are more than (q, q̇) and follow from these: errors
    then take them apart, and `from_motion` of `to_motion` puts them together again. `near` are
    symbols of the coordinates `near_rows`, which choose among several that the same x mean (whole
    turns); near ones are enough, and `rates` and `to_motion` depend on nothing else of them.
    """

    names: tuple[str, ...]
    x: SX
    rates: Builder
    from_motion: Builder
    to_motion: Callable[[], tuple[SX, SX]]
    carried: Builder | None = None
    near: SX = field(default_factory=lambda: ca.SX(0, 1))
    near_rows: tuple[int, ...] = ()


def _derive_again(recipe: Callable[[], Equations]) -> Equations:
    return recipe()


@dataclass(frozen=True, repr=False)
class Equations(Summarized):
    """Equations of motion of a mechanism, derived by one formulation.

    `symbols` maps q, qd, qdd, tau, … to CasADi columns; `parameters` the names of the
    symbols in the column p to their values; `rates` is N(q) with dq/dt = N(q)·speeds.
    `extras` are results that only this formulation has; `state` its own states where they
    are not (q, q̇); `home` is q where loops and constraints close, `unclosed` why they do not,
    and `leeway` how far nearly redundant ones may stay open (m, rad; 0 where all close exactly).
    Where they are `complete`, functions without a builder follow from others; `absent` are those
    that there cannot be, and why. `literals` are parameters that stand for numbers inside of
    expressions, and are written as these. `passive_parts` are the springs that are printed with
    named lengths, and the rest of `passive`. `is_derived`: they are as `derive` gave
    them, not a changed copy.
    """

    mechanism: Mechanism
    by: str
    symbols: Mapping[str, SX]
    names: Names
    parameters: Mapping[str, Exact]
    rates: SX
    neutral: tuple[float, ...]
    builders: Mapping[str, Builder]
    frame_builders: Mapping[str, FrameBuilder]
    inertial_parameters: SX
    extras: Mapping[str, Builder] = field(default_factory=dict)
    state: State | None = None
    home: tuple[float, ...] = ()
    unclosed: str = ""
    leeway: float = 0.0
    complete: bool = True
    absent: Mapping[str, str] = field(default_factory=dict)
    literals: Mapping[str, Fraction] = field(default_factory=dict)
    passive_parts: Callable[[], tuple[tuple[Any, ...], SX]] | None = None
    is_derived: bool = field(default=False, init=False, compare=False)
    recipe: Callable[[], Equations] | None = field(
        default=None, init=False, repr=False, compare=False
    )
    """Derives them again; by it they are pickled."""
    _made: dict[tuple[str, ...], Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def summary(self) -> str:
        """The mechanism, the formulation, and the sizes."""
        sizes = f"nq={self.nq}, nv={self.nv}"
        return f"Equations of {self.mechanism.name} by {self.by}: {sizes}"

    def __str__(self) -> str:
        functions = ", ".join(sorted(self.function_names()))
        readable = 'readable: closed_form("M"), latex("M")'
        return f"{self.summary()}\nfunctions: {functions}\n{readable}"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.recipe is None:
            raise UnsupportedError(
                "a changed copy of equations cannot be pickled",
                remedy="pickle what `derive` gave, and change that again",
            )
        return _derive_again, (self.recipe,)

    @property
    def nq(self) -> int:
        return self.names.nq

    @property
    def nv(self) -> int:
        return self.names.nv

    @cached_property
    def constants(self) -> dict[str, Exact]:
        """What stands among the parameters, but is a number: literals of expressions, and π."""
        own = self.parameters
        return {name: own[name] for name in own if name in self.literals or name == PI}

    @cached_property
    def M(self) -> SX:
        """Mass matrix, nv × nv."""
        return self.expressions("mass_matrix")[0]

    @cached_property
    def C(self) -> SX:
        """Coriolis matrix of the Christoffel symbols, nv × nv."""
        return self.expressions("coriolis_matrix")[0]

    @cached_property
    def g(self) -> SX:
        """Forces that hold the weight, ∂V/∂q."""
        return self.expressions("gravity")[0]

    @cached_property
    def J(self) -> SX:
        """Constraint Jacobian, constraints × nv: rows in the order of `names.constraints`."""
        return self.expressions("constraint_jacobian")[0]

    @cached_property
    def f(self) -> SX:
        """All forces but τ, weight and constraint forces: springs, dampers, friction and the
        loads that the mechanism declares."""
        return self.expressions("forces")[0]

    def can_make(self, name: str) -> bool:
        """Whether a function that they know by name exists: C follows from M only where speeds are
        rates of coordinates."""
        return name != "coriolis_matrix" or name in self.builders or self.nq == self.nv

    def function_names(self) -> list[str]:
        """The functions that these equations have."""
        own = {*self.builders, *self._completions}
        return [name for name in signatures(self.names) if name in own]

    @property
    def _completions(self) -> Mapping[str, Callable[[Equations], Any]]:
        return _COMPLETIONS if self.complete else {"forces": _forces}

    def expressions(self, name: str, *frame: str) -> tuple[SX, ...]:
        """The CasADi expressions of a function's outputs."""
        key = (name, *frame)
        if key not in self._made:
            self._made[key] = self._build(name, *frame)
        return self._made[key]  # type: ignore[no-any-return]

    def _build(self, name: str, *frame: str) -> tuple[SX, ...]:
        made: Any
        if frame:
            made = self.frame_builders[name](*frame)
        elif name in self.builders:
            made = self.builders[name]()
        elif name in self._completions:
            made = self._completions[name](self)
        elif name in self.absent:
            raise UnsupportedError(f"there is no {name} here: {self.absent[name]}")
        else:
            known = sorted({*self.function_names(), *self.frame_builders})
            raise NameNotFoundError(f"there is no function '{name}'", remedy=suggest(name, known))
        return made if isinstance(made, tuple) else (made,)

    def extra(self, name: str) -> Any:
        """A result that only this formulation has, such as Hamilton's function."""
        if name not in self.extras:
            raise NameNotFoundError(
                f"the formulation '{self.by}' has no result '{name}'",
                remedy=suggest(name, list(self.extras)),
            )
        if ("extra", name) not in self._made:
            self._made["extra", name] = self.extras[name]()
        return self._made["extra", name]

    def function(self, name: str, *frame: str) -> ca.Function:
        """A `casadi.Function`; its last input p holds the parameters that stayed symbols."""
        key = ("function", name, *frame)
        if key not in self._made:
            self._made[key] = self._make_function(name, *frame)
        function: ca.Function = self._made[key]
        return function

    def _make_function(self, name: str, *frame: str) -> ca.Function:
        expressions = self.expressions(name, *frame)
        signature = FRAME_SIGNATURES[name] if frame else signatures(self.names)[name]
        inputs = {key: self.symbols[key] for key in inputs_of(signature, self.names)}
        if self.parameters:
            inputs["p"] = self.symbols["p"]
        merged = ca.cse([ca.SX(e) for e in expressions])
        outputs = list(signature.outputs)
        return ca.Function(name, list(inputs.values()), merged, list(inputs), outputs)

    def folded(self, name: str, *frame: str, keep: Sequence[str] = ()) -> ca.Function:
        """The function with all parameters at their values but those to `keep`, its input p."""
        if tuple(keep) == tuple(self.parameters):
            return self.function(name, *frame)
        key = ("folded", *keep, "of", name, *frame)
        if key not in self._made:
            self._made[key] = self._fold(self.function(name, *frame), name, keep)
        function: ca.Function = self._made[key]
        return function

    def _fold(self, function: ca.Function, name: str, keep: Sequence[str]) -> ca.Function:
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
        """All functions as `casadi.Function`s, each made when it is looked up."""
        return _Functions(self)

    def closed_form(self, name: str = "M", *frame: str, **options: Any) -> ClosedForm:
        """A quantity in closed form, readable and canonical: "M", "mass_matrix", "christoffel",
        ("jacobian", "tool"), …; the options are those of `linkwright.forms.closed_form`."""
        form: ClosedForm = convenience("Equations.closed_form")(self, name, *frame, **options)
        return form

    def latex(self, name: str = "M", *frame: str, **options: Any) -> str:
        """The closed form of a quantity in LaTeX."""
        return self.closed_form(name, *frame, **options).latex()

    def _repr_latex_(self) -> str | None:
        """M, C and g for notebooks, where they fit on a page."""
        page: str | None = convenience("Equations._repr_latex_")(self)
        return page

    def along_q(self, expression: SX) -> SX:
        """∂expression/∂q along the tangent, nv columns."""
        return ca.jacobian(expression, self.symbols["q"]) @ self.rates


class _Functions(Mapping[str, Any]):
    def __init__(self, equations: Equations) -> None:
        self.equations = equations

    def __getitem__(self, name: str) -> Any:
        if name not in self.equations.function_names():
            raise KeyError(name)
        return self.equations.function(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.equations.function_names())

    def __len__(self) -> int:
        return len(self.equations.function_names())


# -- what follows from what formulations give --------------------------------------------


def _inverse(eqs: Equations) -> SX:
    return eqs.M @ eqs.symbols["qdd"] + eqs.C @ eqs.symbols["qd"] + eqs.g - eqs.f


def _forces(eqs: Equations) -> SX:
    return eqs.expressions("passive")[0] + eqs.expressions("external")[0]


def _forward(eqs: Equations) -> SX:
    (bias,) = eqs.expressions("bias")
    accelerations: SX = solve_symmetric(eqs.M, eqs.symbols["tau"] - bias)
    return accelerations


def _coriolis(eqs: Equations) -> SX:
    """½ ∂(C q̇)/∂q̇: the terms of second degree in the speeds are C q̇ with Christoffel's C."""
    if eqs.nq != eqs.nv:
        raise NameNotFoundError(
            f"the formulation '{eqs.by}' has no coriolis_matrix where speeds are no rates",
            remedy="use 'recursive', or rotation = \"cardan\"",
        )
    (bias,) = eqs.expressions("bias")
    return ca.jacobian(bias + eqs.f, eqs.symbols["qd"]) / 2


def _inverse_with_wrenches(eqs: Equations) -> SX:
    (tau,) = eqs.expressions("inverse_dynamics")
    return tau - driven_by_wrenches(eqs)


def _forward_with_wrenches(eqs: Equations) -> tuple[SX, ...]:
    qdd, *pivot = eqs.expressions("forward_dynamics")
    tau = eqs.symbols["tau"]
    return ca.substitute(qdd, tau, tau + driven_by_wrenches(eqs)), *pivot


def driven_by_wrenches(eqs: Equations) -> SX:
    """Σ Jᵀ w over the bodies."""
    rows = ca.vertsplit(eqs.symbols["wrenches"])
    jacobians = (eqs.expressions("jacobian", body)[0] for body in eqs.names.bodies)
    return sum((J.T @ row.T for J, row in zip(jacobians, rows, strict=True)), ca.SX.zeros(eqs.nv))


def _inverse_derivatives(eqs: Equations) -> tuple[SX, ...]:
    tau, *pivot = eqs.expressions("inverse_dynamics")
    by_qdd = ca.jacobian(tau, eqs.symbols["qdd"]) if eqs.names.constraints else eqs.M
    return eqs.along_q(tau), ca.jacobian(tau, eqs.symbols["qd"]), by_qdd, *pivot


def _forward_derivatives(eqs: Equations) -> tuple[SX, ...]:
    qdd, *pivot = eqs.expressions("forward_dynamics")
    by_qd, by_tau = (ca.jacobian(qdd, eqs.symbols[key]) for key in ("qd", "tau"))
    return eqs.along_q(qdd), by_qd, by_tau, *pivot


def _bias(eqs: Equations) -> SX:
    (tau,) = eqs.expressions("inverse_dynamics")
    return ca.substitute(tau, eqs.symbols["qdd"], ca.SX.zeros(eqs.nv))


_COMPLETIONS: dict[str, Callable[[Equations], Any]] = {
    "inverse_dynamics": _inverse,
    "forward_dynamics": _forward,
    "forces": _forces,
    "coriolis_matrix": _coriolis,
    "inverse_dynamics_with_wrenches": _inverse_with_wrenches,
    "forward_dynamics_with_wrenches": _forward_with_wrenches,
    "bias": _bias,
    "inverse_dynamics_derivatives": _inverse_derivatives,
    "forward_dynamics_derivatives": _forward_derivatives,
}
