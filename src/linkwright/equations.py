"""Equations of motion: the one result that every formulation returns.

    M(q) q̈ + C(q, q̇) q̇ + g(q) = τ + f(q, q̇)

A formulation gives builders for what it has; the rest follows here from those. Everything
is made when asked for, and once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca

from .errors import NameNotFoundError, suggest
from .expressions import Exact
from .mechanism import Mechanism

SX = Any  # casadi.SX has no type stubs
Builder = Callable[[], Any]
FrameBuilder = Callable[[str], Any]


@dataclass(frozen=True)
class Signature:
    """Inputs by symbol, outputs with their shapes, and a sentence for the documentation.

    Shapes are numbers and sizes of the mechanism: nq, nv, bodies, joints.
    """

    inputs: tuple[str, ...]
    outputs: Mapping[str, str]
    what: str


def _table(rows: str) -> dict[str, Signature]:
    """Rows `name | inputs | output:shape … | what`."""
    table = {}
    for row in rows.strip().splitlines():
        name, inputs, outputs, what = (cell.strip() for cell in row.split("|"))
        shapes = dict(output.split(":") for output in outputs.split())
        table[name] = Signature(tuple(inputs.split()), shapes, what)
    return table


INPUT_SHAPES = {
    "q": "nq", "qd": "nv", "qdd": "nv", "tau": "nv", "v": "nv", "vd": "nv", "step": "nv",
    "q1": "nq", "wrenches": "bodies,6",
}  # fmt: skip

SIGNATURES = _table("""
inverse_dynamics | q qd qdd | tau:nv | forces for given accelerations: M q̈ + C q̇ + g − f
forward_dynamics | q qd tau | qdd:nv | accelerations that the forces give
inverse_dynamics_with_wrenches | q qd qdd wrenches | tau:nv | inverse dynamics under wrenches on the bodies: rows (moment, force), world axes, at the bodies' origins
forward_dynamics_with_wrenches | q qd tau wrenches | qdd:nv | forward dynamics under wrenches on the bodies
mass_matrix | q | M:nv,nv | M, rotors included
coriolis_matrix | q qd | C:nv,nv | C of the Christoffel symbols: Ṁ − 2C is skew
gravity | q | g:nv | forces that hold the weight, ∂V/∂q
bias | q qd | b:nv | forces at zero acceleration: C q̇ + g − f
passive | q qd | f:nv | forces of dampers, friction and springs at the joints
kinetic_energy | q qd | T: | of bodies and rotors, J
potential_energy | q | V: | of weight and springs, J
center_of_mass | q | c:3 | of all that moves, in the world, m
momentum | q qd | h:6 | angular momentum about the mass centre, then linear, world axes
reactions | q qd qdd | r:joints,6 | what each joint's parent does to its child: rows (moment, force), world axes, about the joint's origin
regressor | q qd qdd | Y:nv,parameters | Y with Y π = M q̈ + C q̇ + g without rotors
control_regressor | q qd v vd | Phi:nv,parameters | Φ with Φ π = M v̇ + C v + g without rotors
inverse_dynamics_derivatives | q qd qdd | by_q:nv,nv by_qd:nv,nv by_qdd:nv,nv | ∂τ/∂q, ∂τ/∂qd, ∂τ/∂qdd
forward_dynamics_derivatives | q qd tau | by_q:nv,nv by_qd:nv,nv by_tau:nv,nv | ∂q̈/∂q, ∂q̈/∂qd, ∂q̈/∂τ
integrate | q step | q_out:nq | q ⊕ step: where the speeds `step` lead in unit time
difference | q q1 | step:nv | step with q ⊕ step = q1
""")

FRAME_SIGNATURES = _table("""
placement | q | T:4,4 | placement of the frame in the world
jacobian | q | J:6,nv | rows ω, then v of the frame's origin, world axes
frame_velocity | q qd | V:6 | (ω, v) of the frame, world axes
frame_acceleration | q qd qdd | A:6 | (ω̇, v̇) of the frame, world axes: the rate of frame_velocity
frame_bias_acceleration | q qd | A:6 | J̇ q̇: frame_acceleration at q̈ = 0
""")


@dataclass(frozen=True)
class Equations:
    """Equations of motion of a mechanism, derived by one formulation.

    `symbols` maps q, qd, qdd, tau, … to CasADi columns; `parameters` the names of the
    symbols in the column p to their values; `rates` is N(q) with dq/dt = N(q)·speeds.
    """

    mechanism: Mechanism
    by: str
    symbols: Mapping[str, SX]
    q_names: tuple[str, ...]
    qd_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    body_names: tuple[str, ...]
    parameters: Mapping[str, Exact]
    rates: SX
    neutral: tuple[float, ...]
    builders: Mapping[str, Builder]
    frame_builders: Mapping[str, FrameBuilder]
    inertial_parameters: SX
    _made: dict[tuple[str, ...], Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def nq(self) -> int:
        return len(self.q_names)

    @property
    def nv(self) -> int:
        return len(self.qd_names)

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
    def f(self) -> SX:
        """Everything else that the mechanism does: dampers, friction, springs."""
        return self.expressions("passive")[0]

    def names(self) -> list[str]:
        """The functions that these equations have."""
        return [name for name in SIGNATURES if name in self.builders or name in _COMPLETIONS]

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
        elif name in _COMPLETIONS:
            made = _COMPLETIONS[name](self)
        else:
            known = sorted({*self.names(), *self.frame_builders})
            raise NameNotFoundError(f"there is no function '{name}'", remedy=suggest(name, known))
        return made if isinstance(made, tuple) else (made,)

    def function(self, name: str, *frame: str) -> Any:
        """A `casadi.Function`; its last input p holds the parameters that stayed symbols."""
        expressions = self.expressions(name, *frame)
        signature = FRAME_SIGNATURES[name] if frame else SIGNATURES[name]
        inputs = {key: self.symbols[key] for key in signature.inputs}
        if self.parameters:
            inputs["p"] = self.symbols["p"]
        merged = ca.cse([ca.SX(e) for e in expressions])
        outputs = list(signature.outputs)
        return ca.Function(name, list(inputs.values()), merged, list(inputs), outputs)

    def folded(self, name: str, *frame: str, keep: Sequence[str] = ()) -> Any:
        """The function with all parameters at their values but those to `keep`, its input p."""
        function = self.function(name, *frame)
        if tuple(keep) == tuple(self.parameters):
            return function
        kept = {parameter: ca.SX.sym(parameter) for parameter in keep}
        p = ca.vertcat(*(kept.get(k, float(v)) for k, v in self.parameters.items()))
        inputs = [function.sx_in(i) for i in range(function.n_in() - 1)]
        outputs = function.call([*inputs, p])
        names = [function.name_in(i) for i in range(len(inputs))]
        if kept:
            inputs.append(ca.vertcat(*kept.values()))
            names.append("p")
        return ca.Function(name, inputs, ca.cse(outputs), names, function.name_out())

    def shape(self, text: str) -> tuple[int, ...]:
        """A shape such as "nv,nv" in numbers."""
        sizes = {
            "nq": self.nq,
            "nv": self.nv,
            "bodies": len(self.body_names),
            "joints": len(self.joint_names),
            "parameters": 10 * len(self.body_names),
        }
        return tuple(sizes.get(word) or int(word) for word in text.split(",") if word)

    def functions(self) -> Mapping[str, Any]:
        """All functions as `casadi.Function`s, each made when it is looked up."""
        return _Functions(self)

    def entry_names(self) -> dict[str, list[str]]:
        """Names of the entries of inputs and outputs that have some: q1, dq1, ddq1, tau_q1, …"""

        def rates(prefix: str) -> list[str]:
            return [f"{prefix}{name}" for name in self.qd_names]

        wrench = ("mx", "my", "mz", "fx", "fy", "fz")
        return {
            "q": list(self.q_names),
            "qd": rates("d"),
            "qdd": rates("dd"),
            "tau": rates("tau_"),
            "v": rates("v_"),
            "vd": rates("vd_"),
            "step": rates("step_"),
            "q1": [f"{name}_1" for name in self.q_names],
            "wrenches": [f"{c}_{body}" for body in self.body_names for c in wrench],
            "p": list(self.parameters),
        }

    def along_q(self, expression: SX) -> SX:
        """∂expression/∂q along the tangent, nv columns."""
        return ca.jacobian(expression, self.symbols["q"]) @ self.rates


class _Functions(Mapping[str, Any]):
    def __init__(self, equations: Equations) -> None:
        self.equations = equations

    def __getitem__(self, name: str) -> Any:
        if name not in self.equations.names():
            raise KeyError(name)
        return self.equations.function(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.equations.names())

    def __len__(self) -> int:
        return len(self.equations.names())


# -- what follows from what formulations give --------------------------------------------


def _inverse_derivatives(eqs: Equations) -> tuple[SX, ...]:
    (tau,) = eqs.expressions("inverse_dynamics")
    return eqs.along_q(tau), ca.jacobian(tau, eqs.symbols["qd"]), eqs.M


def _forward_derivatives(eqs: Equations) -> tuple[SX, ...]:
    (qdd,) = eqs.expressions("forward_dynamics")
    q, qd, tau = (eqs.symbols[key] for key in ("q", "qd", "tau"))
    return ca.jacobian(qdd, q) @ eqs.rates, ca.jacobian(qdd, qd), ca.jacobian(qdd, tau)


def _bias(eqs: Equations) -> SX:
    (tau,) = eqs.expressions("inverse_dynamics")
    return ca.substitute(tau, eqs.symbols["qdd"], ca.SX.zeros(eqs.nv))


_COMPLETIONS: dict[str, Callable[[Equations], Any]] = {
    "bias": _bias,
    "inverse_dynamics_derivatives": _inverse_derivatives,
    "forward_dynamics_derivatives": _forward_derivatives,
}
