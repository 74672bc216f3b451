"""Inputs of a mechanism: constants, expressions, tables over time, functions, controllers.

All become τ(t, q, q̇), (nv) generalized forces; with actuators, τ = B u. Expressions are part of
the compiled rates. Other inputs enter the compiled code as numbers w: values of tables at t, the
reference of a controller, or all of τ if the user gives a Python function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..equations import Equations
from ..errors import LinkwrightError, NameNotFoundError, suggest_remedy
from ..expressions import parse_expression
from ..kinematics.parameter_values import read_kinematic_expression
from ..mechanism import MechanismNames, check_constant_units, pose_numbers
from ..number_checks import check_number
from ..readings.llvm import compile_tape
from ..tape import normalize_tape, record_tape, schedule_tape
from ..types import SX, Booleans, Floats, ForceLike
from .actuator_efforts import efforts_of_controls
from .effort_limits import Demand, limit_given_forces, limit_joint_forces
from .feedback import NOT_KEPT, Feedback
from .time_tables import TimeTable, read_time_table

_IDLE, _NONE = np.zeros(1), np.zeros(0)


@dataclass(frozen=True)
class ForceLaw:
    """τ as an expression of the equations' t, q, q̇, of states z of its own, and of outer inputs w.

    `function` gives τ itself (then w is τ before its limits), `tables` give w at t, a `feedback`
    what it follows; else w is one idle zero. `u` is the expression of the actuators' forces, if
    these were given. z has the rates `z_rate`; empty, it has one idle entry. z are the states of
    the controller, or the `activations` of actuators. `written` is what a file keeps. τ, u and
    controls are clipped to limits that the mechanism declares: `asked` are their values before, one
    for each of `demands`.
    """

    equations: Equations
    w: SX
    tau: SX
    u: SX | None = None
    function: Callable[..., ArrayLike] | None = None
    tables: tuple[TimeTable, ...] = ()
    feedback: Feedback | None = None
    z: SX = field(default_factory=lambda: ca.SX.sym("z", 1))
    z_rate: SX = field(default_factory=lambda: ca.SX.zeros(0, 1))
    activations: tuple[str, ...] = ()
    activation_start: tuple[float, ...] = ()
    written: object = None
    asked: SX = field(default_factory=lambda: ca.SX(0, 1))
    demands: tuple[Demand, ...] = ()

    @property
    def kept(self) -> dict[str, object]:
        """The setting of a run from which this input can be restored."""
        return {"torque" if self.feedback is None else "controller": self.written}

    @property
    def state_names(self) -> tuple[str, ...]:
        """The names of a controller's states, or of actuators' activations."""
        return self.feedback.names if self.feedback is not None else self.activations

    @property
    def start_states(self) -> tuple[float, ...]:
        """The values of these states at the start of a run."""
        return self.feedback.start if self.feedback is not None else self.activation_start

    @property
    def is_sampled(self) -> bool:
        """Whether a controller acts at single instants, and its forces are held in between."""
        return self.feedback is not None and self.feedback.period is not None

    def with_tables(self, tables: tuple[TimeTable, ...]) -> ForceLaw:
        """Return the inputs with other tables; both share their compiled code."""
        return _share_code(self, replace(self, tables=tables))

    def with_feedback(self, feedback: Feedback) -> ForceLaw:
        """Return the inputs with other gains, reference and start of the controller."""
        return _share_code(self, replace(self, feedback=feedback))

    def outer(self, t: float, q: Floats, qd: Floats) -> Floats:
        """Return w at an instant; q and q̇ are used only if `function` is given."""
        if self.function is not None:
            return sized(self.function(t, q, qd), self.equations.nv)
        if self.feedback is not None:
            return filled(self.feedback.outer(t))
        if self.tables:
            return np.array([table(t) for table in self.tables])
        return _IDLE

    def __call__(self, t: float, q: Floats, qd: Floats, z: Floats = _NONE) -> Floats:
        """Return τ at an instant."""
        if self.function is not None and not self.demands:
            return self.outer(t, q, qd)
        return self.act(t, q, qd, z)[0]

    def act(self, t: float, q: Floats, qd: Floats, z: Floats) -> tuple[Floats, Floats]:
        """Return τ and ż at an instant."""
        return self._forces_and_rates(t, q, qd, z, self.outer(t, q, qd))

    def forces_and_rates(
        self, t: float, q: Floats, qd: Floats, z: Floats, w: Floats
    ) -> tuple[Floats, Floats]:
        """Return τ and ż at an instant where w is known; held forces are w themselves."""
        if self.is_sampled or (self.function is not None and not self.demands):
            return w, 0 * z
        return self._forces_and_rates(t, q, qd, z, w)

    def _forces_and_rates(
        self, t: float, q: Floats, qd: Floats, z: Floats, w: Floats
    ) -> tuple[Floats, Floats]:
        """Return τ and ż from the compiled expressions."""
        with np.errstate(all="ignore"):  # a drive that is not finite ends the run with its name
            tau, _, rate = self._compiled(q, qd, [t], w, filled(z))
        return tau, rate[: len(z)]

    def actuators(self, t: float, q: Floats, qd: Floats, z: Floats = _NONE) -> Floats | None:
        """Return u at an instant, if inputs are given by actuator; z defaults to its start."""
        if self.u is None:
            return None
        states = filled(z if len(z) else np.array(self.start_states))
        found: Floats = self._compiled(q, qd, [t], self.outer(t, q, qd), states)[1]
        return found

    def histories(
        self, t: Floats, q: Floats, qd: Floats, z: Floats, known: Sequence[Floats] = ()
    ) -> tuple[Floats, Floats]:
        """Return τ and u along a motion, one row for each time; `known` is what a `function`
        returned there."""
        tau, u, _ = self._along(self._compiled, t, q, qd, z, known)
        return tau, u

    def clipped_demands(
        self, t: Floats, q: Floats, qd: Floats, z: Floats, known: Sequence[Floats] = ()
    ) -> tuple[str, ...]:
        """Return what was clipped along a motion, and how far the inputs went beyond it."""
        if not self.demands:
            return ()
        (asked,) = self._along(self._compiled_demands, t, q, qd, z, known)
        found = (one.sentence(asked[:, k]) for k, one in enumerate(self.demands))
        return tuple(sentence for sentence in found if sentence is not None)

    def _along(
        self, compiled: Any, t: Floats, q: Floats, qd: Floats, z: Floats, known: Sequence[Floats]
    ) -> tuple[Floats, ...]:
        """Return outputs of a compiled function along a motion."""
        outer: Any = _IDLE
        if self.function is not None:
            outer = np.array(known)
        elif self.feedback is not None or self.tables:
            outer = np.array([self.outer(*row) for row in zip(t, q, qd, strict=True)])
        idle = z if z.shape[1] else np.zeros((len(t), 1))
        with np.errstate(all="ignore"):
            found = compiled(q, qd, t[:, None], outer, idle)
        return found if isinstance(found, tuple) else (found,)

    def are_finite(self, times: Floats, q: Floats, qd: Floats, z: Floats) -> Booleans:
        """Return where inputs are finite along motions (…, times, n); numbers always are."""
        s = self.equations.symbols
        state = ca.vertcat(s["q"], s["qd"], s["t"], self.z)
        if self.function is not None or not ca.depends_on(ca.SX(self.tau), state):
            return np.ones(q.shape[:-1], bool)
        outer = np.array([self.outer(t, _NONE, _NONE) for t in times.tolist()])
        idle = z if z.shape[-1] else np.zeros((*z.shape[:-1], 1))
        with np.errstate(all="ignore"):
            tau = self._compiled(q, qd, times[:, None], outer, idle)[0]
        found: Booleans = np.isfinite(tau).all(axis=-1)
        return found

    def forces_along(self, t: Floats, q: Floats, qd: Floats, z: Floats, w: Floats) -> Floats:
        """Return τ (…, times, nv) along motions (…, times, n), where w is known."""
        with np.errstate(all="ignore"):
            found: Floats = self._compiled(q, qd, t[:, None], w, z)[0]
        return found

    @cached_property
    def _compiled(self) -> Any:
        """The compiled function (q, q̇, t, w, z) → (τ, u, ż)."""
        u = ca.SX.zeros(1) if self.u is None else self.u
        rate = self.z_rate if self.z_rate.shape[0] else ca.SX.zeros(1)
        return self._compile({"tau": self.tau, "u": u, "rate": rate})

    @cached_property
    def _compiled_demands(self) -> Any:
        """The compiled function (q, q̇, t, w, z) → the values before they are clipped."""
        return self._compile({"asked": self.asked})

    def _compile(self, named: Mapping[str, SX]) -> Any:
        """Return a compiled function (q, q̇, t, w, z) of expressions by name."""
        s = self.equations.symbols
        outputs = [ca.SX(x) for x in named.values()]
        values = [float(value) for value in self.equations.parameters.values()]
        if values:
            outputs = ca.substitute(outputs, [s["p"]], [ca.DM(values)])
        function = ca.Function(
            "drive",
            [s["q"], s["qd"], s["t"], self.w, self.z],
            ca.cse([ca.densify(x) for x in outputs]),
            ["q", "qd", "t", "w", "z"],
            list(named),
        )
        return compile_tape(schedule_tape(normalize_tape(record_tape(function))), threads=1)


def _share_code(source: ForceLaw, other: ForceLaw) -> ForceLaw:
    """Return the other law, with the compiled code of the first."""
    other.__dict__["_compiled"] = source._compiled
    return other


def filled(values: Floats) -> Floats:
    """Return values, or one unused zero if there are none: compiled code has no empty inputs."""
    return values if len(values) else _IDLE


def first(symbols: SX, count: int) -> SX:
    """Return the first `count` symbols."""
    found: SX = ca.vertcat(*ca.vertsplit(symbols)[:count]) if count else ca.SX(0, 1)
    return found


def read_force_law(equations: Equations, given: ForceLike | Feedback | None) -> ForceLaw:
    """Return the inputs from what a user gives: nothing, numbers, a table by name, the name of a
    pose with controls, a function of (t, q, q̇), or a controller; all within declared limits."""
    law = _read_unlimited_law(equations, given)
    if given is None:
        return law
    limit = limit_given_forces if law.u is None else limit_joint_forces
    found = limit(equations, law.tau)
    if not found.demands:
        return law
    asked = ca.vertcat(law.asked, found.asked)
    return replace(law, tau=found.tau, asked=asked, demands=(*law.demands, *found.demands))


def _read_unlimited_law(equations: Equations, given: ForceLike | Feedback | None) -> ForceLaw:
    """Return the inputs; only actuators' own ranges are imposed."""
    n = equations.nv
    if isinstance(given, Feedback):
        return _by_law(equations, given)
    if callable(given):
        _check_takes_state(given, n)
        w = ca.SX.sym("w", n)
        return ForceLaw(equations, w, w, function=given, written=NOT_KEPT)
    if isinstance(given, str):
        return _by_pose(equations, given)
    if isinstance(given, Mapping):
        return _by_name(equations, given)
    constant = np.zeros(n) if given is None else sized(given, n)
    if not np.isfinite(constant).all():
        raise LinkwrightError("the forces are not finite", remedy="give finite numbers")
    kept = None if given is None else constant.tolist()
    return ForceLaw(equations, ca.SX.sym("w", 1), ca.SX(ca.DM(constant)), written=kept)


def _check_takes_state(function: Callable[..., Any], n: int) -> None:
    """Raise an error if a function cannot be called with (t, q, qd), as far as Python can tell."""
    try:
        inspect.signature(function).bind(0.0, None, None)
    except ValueError:  # a builtin without a signature
        return
    except TypeError:
        name = getattr(function, "__name__", "the function")
        raise LinkwrightError(
            f"{name} cannot be called as torque(t, q, qd)",
            remedy=f"let it take t, q and qd, and return {n} numbers",
        ) from None


def _by_law(equations: Equations, law: Feedback) -> ForceLaw:
    """Return the inputs of a controller."""
    law.check_fits(equations.nq, equations.nv, equations.mechanism.name)
    s, count = equations.symbols, law.follows + len(law.gains)
    z, w = ca.SX.sym("z", max(1, len(law.names))), ca.SX.sym("w", max(1, count))
    tau, rate = law.law(s["t"], s["q"], s["qd"], first(z, len(law.names)), first(w, count))
    return ForceLaw(equations, w, tau, feedback=law, z=z, z_rate=rate, written=law.recipe)


def sized(values: ArrayLike, n: int) -> Floats:
    """Return n generalized forces; raise an error for anything else."""
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise LinkwrightError("the forces are not numbers", remedy=f"give {n} numbers") from None
    if found.shape != (n,):
        raise LinkwrightError(f"the forces have shape {found.shape}", remedy=f"give {n} numbers")
    return found


def input_name(names: MechanismNames, name: str) -> str:
    """Return how messages name an input: the effort of an actuator, or the force along a
    velocity."""
    return f"the {'effort' if names.actuators else 'force'} '{name}'"


def _by_name(equations: Equations, given: Mapping[str, object]) -> ForceLaw:
    """Return inputs by velocity or actuator: numbers, expressions of t, q, qd, tables."""
    tables = {k: read_time_table(k, v) for k, v in given.items() if not isinstance(v, str | Real)}
    w = ca.SX.sym("w", max(1, len(tables)))
    for name, value in given.items():
        if isinstance(value, Real):
            check_number(value, input_name(equations.names, name))
    values: dict[str, float | str | SX] = {
        k: v if isinstance(v, str) else float(v)
        for k, v in given.items()
        if isinstance(v, str | Real)
    }
    u = forces_of(equations, {**values, **dict(zip(tables, ca.vertsplit(w), strict=False))})
    kept = {k: _written(tables.get(k, v)) for k, v in given.items()}
    law = ForceLaw(equations, w, u, tables=tuple(tables.values()), written=kept)
    return _by_actuator(law, u) if equations.names.actuators else law


def _by_pose(equations: Equations, name: str) -> ForceLaw:
    """Return the controls of a named pose, with actuators that begin at its activations."""
    mechanism = equations.mechanism
    controls = pose_numbers(mechanism, name, "controls")
    if not equations.names.actuators:
        raise LinkwrightError(
            f"the pose '{name}' has no controls: {mechanism.name} has no actuators",
            remedy="give forces by velocity",
        )
    law = replace(_by_name(equations, controls), written=name)
    start = pose_numbers(mechanism, name, "activations")
    return _by_actuator(law, forces_of(equations, controls), start)


def _by_actuator(law: ForceLaw, controls: SX, start: Mapping[str, float] | None = None) -> ForceLaw:
    """Return inputs whose controls act through the actuators; `start` are activations."""
    found = efforts_of_controls(law.equations, controls, start)
    tau = law.equations.expressions("input_matrix")[0] @ found.u
    return replace(
        law,
        tau=tau,
        u=found.u,
        z=found.z,
        z_rate=found.z_rate,
        activations=found.names,
        activation_start=found.start,
        asked=found.asked,
        demands=found.demands,
    )


def _written(value: object) -> object:
    """Return an input in the form that a file stores."""
    if isinstance(value, TimeTable):
        return [list(value.times), list(value.values), value.kind]
    return float(value) if isinstance(value, Real) else value


def forces_of(equations: Equations, given: Mapping[str, float | str | SX]) -> SX:
    """Return u of inputs by name: numbers, symbols, or texts of t, q, qd, which are parsed and
    never evaluated; without actuators, names are those of velocities."""
    s, names = equations.symbols, equations.names
    drives = list(names.actuators) or list(names.qd)
    for name in given:
        if name not in drives:
            kind = "actuator" if names.actuators else "velocity"
            raise NameNotFoundError(f"unknown {kind} '{name}'", remedy=suggest_remedy(name, drives))
    check_constant_units(equations.mechanism, given, "torque")
    scope = dict(zip(names.q, ca.vertsplit(s["q"]), strict=True)) | {"t": s["t"]}
    scope |= {f"d{n}": x for n, x in zip(names.qd, ca.vertsplit(s["qd"]), strict=True)}
    values = {
        name: read_kinematic_expression(equations.mechanism, parse_expression(value), scope)
        if isinstance(value, str)
        else value
        for name, value in given.items()
    }
    found: SX = ca.vertcat(*(values.get(name, 0.0) for name in drives))
    return found
