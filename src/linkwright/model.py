"""The compiled functions that people call: every quantity a NumPy generalized ufunc."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .equations import FRAME_SIGNATURES, INPUT_SHAPES, SIGNATURES, Equations
from .errors import NameNotFoundError, UnsupportedError, suggest
from .mechanism import Mechanism
from .tape import Port, Tape, count_operations, normalised, record, scheduled

if TYPE_CHECKING:
    from .readings.llvm.target import Target

_NEED_REGULAR_MASS = {
    "forward_dynamics", "forward_dynamics_with_wrenches", "forward_dynamics_derivatives",
}  # fmt: skip


def compile(  # noqa: A001 - the name that people call
    source: Mechanism | Equations,
    *,
    parameters: Sequence[str] = (),
    threads: int | None = None,
    target: Target | None = None,
) -> Model:
    """A model of a mechanism, or of equations that were derived already.

    All numbers are folded into the code but `parameters`, which become a last input p of
    every function, in the order given. Large batches are split between `threads` threads
    (None: one for each core).
    """
    if isinstance(parameters, str):
        parameters = [parameters]
    if isinstance(source, Equations):
        return Model(source, tuple(parameters), threads, target)
    from .formulations import derive

    equations = derive(source, by="recursive", parameters=list(parameters) or "numeric")
    return Model(equations, tuple(parameters), threads, target, recipe=source)


class Model:
    """Compiled functions of a mechanism. Each attribute that is a function is the ufunc
    itself, `(nq),(nv),(nv)->(nv)` and the like, compiled when it is first asked for.
    """

    def __init__(
        self,
        equations: Equations,
        parameters: tuple[str, ...] = (),
        threads: int | None = None,
        target: Target | None = None,
        recipe: Mechanism | None = None,
    ) -> None:
        if equations.nv == 0:
            raise UnsupportedError(
                f"{equations.mechanism.name} cannot move: it has no joint with a freedom",
                remedy="add one, or unlock one",
            )
        for name in parameters:
            if name not in equations.parameters:
                raise NameNotFoundError(
                    f"'{name}' is no symbol of these equations",
                    remedy=suggest(name, list(equations.parameters)),
                )
        self.equations = equations
        self.parameters = parameters
        self.mechanism = equations.mechanism
        self.threads = threads
        self._target = target
        self._recipe = recipe
        self._by_frame: dict[tuple[str, str], np.ufunc] = {}

    # -- sizes and names -----------------------------------------------------------------

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.equations.nq

    @property
    def nv(self) -> int:
        """Number of speeds."""
        return self.equations.nv

    @property
    def joint_names(self) -> tuple[str, ...]:
        """All joints, depth first; the rows of `reactions`."""
        return self.equations.joint_names

    @property
    def q_names(self) -> tuple[str, ...]:
        return self.equations.q_names

    @property
    def qd_names(self) -> tuple[str, ...]:
        return self.equations.qd_names

    @property
    def body_names(self) -> tuple[str, ...]:
        """Moving bodies, one for what is fixed together: rows of `wrenches`, blocks of π."""
        return self.equations.body_names

    @property
    def inertial_parameters(self) -> NDArray[np.float64]:
        """π, (10·bodies): m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each body."""
        import casadi as ca

        eqs = self.equations
        function = ca.Function("pi", [eqs.symbols["p"]], [eqs.inertial_parameters])
        values = np.array([float(value) for value in eqs.parameters.values()])
        return np.asarray(function(values), dtype=float).ravel()

    def neutral(self) -> NDArray[np.float64]:
        """q where nothing is displaced."""
        return np.array(self.equations.neutral)

    @property
    def nominal_parameters(self) -> NDArray[np.float64]:
        """The values that the mechanism gives the parameters kept as input p."""
        known = self.equations.parameters
        return np.array([float(known[name]) for name in self.parameters])

    # -- functions -----------------------------------------------------------------------

    def __getattr__(self, name: str) -> np.ufunc:
        if name.startswith("_") or name not in SIGNATURES:
            raise AttributeError(f"Model has no function '{name}'; {suggest(name, [*SIGNATURES])}")
        ufunc = self._compile(name)
        self.__dict__[name] = ufunc
        return ufunc

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.equations.names()]

    def placement(self, frame: str) -> np.ufunc:
        """`(nq)->(4,4)`: where a frame or body stands in the world."""
        return self._of_frame("placement", frame)

    def jacobian(self, frame: str) -> np.ufunc:
        """`(nq)->(6,nv)`: rows ω, then v of the frame's origin, world axes."""
        return self._of_frame("jacobian", frame)

    def frame_velocity(self, frame: str) -> np.ufunc:
        """`(nq),(nv)->(6)`: (ω, v) of a frame, world axes."""
        return self._of_frame("frame_velocity", frame)

    def frame_acceleration(self, frame: str) -> np.ufunc:
        """`(nq),(nv),(nv)->(6)`: the rate of `frame_velocity`."""
        return self._of_frame("frame_acceleration", frame)

    def frame_bias_acceleration(self, frame: str) -> np.ufunc:
        """`(nq),(nv)->(6)`: J̇ q̇, the acceleration of a frame at q̈ = 0."""
        return self._of_frame("frame_bias_acceleration", frame)

    def tape(self, name: str, *frame: str) -> Tape:
        """The instructions behind a function."""
        function = self.equations.folded(name, *frame, keep=self.parameters)
        tape = record(function, *ports(self.equations, name, self.parameters))
        return scheduled(normalised(tape))

    def operations(self, name: str, *frame: str) -> int:
        """How many floating-point operations one call of a function takes."""
        return count_operations(self.tape(name, *frame))

    def _of_frame(self, name: str, frame: str) -> np.ufunc:
        key = (name, frame)
        if key not in self._by_frame:
            self._by_frame[key] = self._compile(name, frame)
        return self._by_frame[key]

    def _compile(self, name: str, *frame: str) -> np.ufunc:
        from .readings.llvm import compile_tape

        if name in _NEED_REGULAR_MASS:
            check_mass_matrix(self.equations)
        signature = FRAME_SIGNATURES[name] if frame else SIGNATURES[name]
        inputs = [*signature.inputs, *(["p"] if self.parameters else [])]
        of = f" of {frame[0]}" if frame else ""
        documentation = (
            f"{', '.join(inputs)} -> {', '.join(signature.outputs)}{of}\n\n{signature.what}"
        )
        return compile_tape(self.tape(name, *frame), documentation, self._target, self.threads)

    # -- as a value ----------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        if self._recipe is None:
            eqs = self.equations
            names = "numeric" if not eqs.parameters else list(eqs.parameters)
            return _again, (self.mechanism, eqs.by, names, self.parameters, self.threads)
        return _again, (self._recipe, None, None, self.parameters, self.threads)

    def __repr__(self) -> str:
        eqs = self.equations
        return f"<Model of {self.mechanism.name}: nq={eqs.nq}, nv={eqs.nv}, by {eqs.by}>"


def _again(
    mechanism: Mechanism,
    by: str | None,
    derived: Any,
    parameters: tuple[str, ...],
    threads: int | None,
) -> Model:
    """A model from its recipe, as pickles keep it."""
    if by is None:
        return compile(mechanism, parameters=parameters, threads=threads)
    from .formulations import derive

    equations = derive(mechanism, by=by, parameters=derived)
    return compile(equations, parameters=parameters, threads=threads)


def ports(
    equations: Equations, name: str, parameters: Sequence[str] = ()
) -> tuple[list[Port], list[Port]]:
    """Inputs and outputs of a function, with their true shapes."""
    signature = (SIGNATURES | FRAME_SIGNATURES)[name]
    inputs = [Port(key, equations.shape(INPUT_SHAPES[key])) for key in signature.inputs]
    if parameters:
        inputs.append(Port("p", (len(parameters),)))
    return inputs, [Port(key, equations.shape(text)) for key, text in signature.outputs.items()]


def check_mass_matrix(equations: Equations) -> None:
    """Raises where the mass matrix is singular everywhere: some freedom moves no inertia."""
    mass_matrix, integrate = equations.folded("mass_matrix"), equations.folded("integrate")
    rng = np.random.default_rng(0)
    worst = np.inf
    for _ in range(3):
        q = integrate(equations.neutral, rng.uniform(0.1, 1.0, equations.nv))
        M = np.asarray(mass_matrix(q), dtype=float)
        scale = 1 / np.sqrt(np.maximum(np.diag(M), np.finfo(float).tiny))
        sizes, vectors = np.linalg.eigh(scale[:, None] * M * scale)
        if sizes[0] > 1e-13 and np.diag(M).min() > 0:
            return
        if sizes[0] < worst:
            worst, weak = sizes[0], int(np.argmax(np.abs(vectors[:, 0] * scale)))
    raise UnsupportedError(
        f"the mass matrix is singular: '{equations.qd_names[weak]}' can move without moving mass",
        where=equations.mechanism.name,
        remedy="give the bodies beyond it mass and inertia, or the joint a motor with inertia",
    )
