"""The compiled code of a motion: the tapes, and the program of an integrator that calls them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from ..integrators import (
    DOP853,
    DORMAND_PRINCE,
    RODAS5P,
    ExplicitMethod,
    RosenbrockMethod,
    StepMethod,
    integrate_trajectories,
)
from ..program import read_program
from ..readings.llvm import (
    CompiledProgram,
    LoadedCode,
    compile_procedure,
    compile_program,
    compile_tape,
)
from ..types import Floats, Integers
from .events.hybrid import Hybrid
from .events.signals import find_signal_obstacle
from .motion_tapes import MotionTapes
from .projection import Projection
from .right_hand_side import RightHandSide

METHODS: dict[str, StepMethod] = {
    method.name: method
    for method in (
        ExplicitMethod(DOP853),
        ExplicitMethod(DORMAND_PRINCE),
        RosenbrockMethod(RODAS5P),
    )
}
"""The integrators that can run in compiled code."""


EVENT_CAPACITY = 64
"""How many noted events of a trajectory are kept before Python must take them over."""


@dataclass(frozen=True)
class Handover:
    """Where Python must go on: the time, the state, the length of steps there and the reason; a
    lasting reason holds for the rest of the run."""

    t: float
    y: Floats
    step: float
    reason: str
    is_lasting: bool


@dataclass(frozen=True)
class CompiledTrajectory:
    """The result of a run: the times reached, the states at these times (one column each), the
    state with the largest velocities, counts, how the run ended, and the mode's numbers at these
    times (None if there never were forces of contacts and friction)."""

    times: Floats
    states: Floats
    fastest: Floats
    statistics: Mapping[str, float]
    status: str
    modes: Floats | None = None
    broken: str | None = None
    """The member that broke, if that ended the run."""
    handover: Handover | None = None
    """Where Python goes on; None if the run has ended."""


def find_obstacle(system: RightHandSide, integrator: str, events: Hybrid | None) -> str | None:
    """Return why compiled code cannot integrate a system and detect its events without Python;
    None if it can."""
    force_law = system.force_law
    if integrator not in METHODS:
        return f"'{integrator}' is not compiled: {', '.join(METHODS)} are"
    if force_law.function is not None:
        return "an input is a Python function"
    law = force_law.feedback
    if law is not None and law.has_moving_reference and not force_law.is_sampled:
        return "a controller without a period follows a moving reference"
    return None if events is None else find_signal_obstacle(events)


def can_compile(system: RightHandSide, integrator: str, events: Hybrid | None) -> bool:
    """Whether compiled code can integrate a system and detect its events without Python."""
    return find_obstacle(system, integrator, events) is None


@cache
def compile_integrator(
    method: StepMethod, *, projects: bool, has_signals: bool, is_single: bool
) -> CompiledProgram:
    """Return the program of a step method, with or without projection and signals, for a single
    trajectory or for many."""
    absent: dict[str, object] = {} if projects else {"project": None}
    absent |= {"margins": None} if has_signals else {"signals": None, "margins": None}
    absent |= {} if method.needs_jacobian else {"jacobian": None}
    identity = ("integrate", method, projects, has_signals)
    return compile_program(
        lambda: read_program(integrate_trajectories, method=method, functions=absent),
        identity,
        is_single=is_single,
    )


class CompiledMotion(MotionTapes):
    """The compiled program of a system with its signals, for one integrator; it holds no data of
    single runs."""

    def __init__(
        self,
        system: RightHandSide,
        integrator: str,
        events: Hybrid | None,
        *,
        has_modes: bool = False,
    ) -> None:
        super().__init__(system, events, has_modes=has_modes)
        self.method = METHODS[integrator]

    @cached_property
    def project(self) -> np.ufunc:
        """The compiled projection of many states."""
        return compile_tape(self.projection_tape, threads=1)

    @cached_property
    def sizes(self) -> Integers:
        """Sizes for the program; states other than q and q̇ have no range of velocities. The
        number of event columns belongs to a run."""
        names = self.system.names
        signals = 0 if self.signals_tape is None else self.signals_tape.outputs[0].size
        is_plain = self.system.equations.state is None
        speeds = (names.nq, names.nq + names.nv) if is_plain else (0, 0)
        return np.array(
            [self.state_count, self.parameter_count, signals, *speeds, 0, EVENT_CAPACITY]
        )

    @cached_property
    def single_code(self) -> tuple[CompiledProgram, tuple[LoadedCode, ...]]:
        """The program for one trajectory, and the tapes that it calls."""
        return self._code(is_single=True)

    @cached_property
    def ensemble_code(self) -> tuple[CompiledProgram, tuple[LoadedCode, ...]]:
        """The program for many trajectories at once, and the tapes that it calls."""
        return self._code(is_single=False)

    def _code(self, *, is_single: bool) -> tuple[CompiledProgram, tuple[LoadedCode, ...]]:
        tapes = [self.rates_tape]
        tapes += [self.projection_tape] if self.needs_projection else []
        tapes += [] if self.signals_tape is None else [self.signals_tape]
        tapes += [self.jacobian_tape] if self.method.needs_jacobian else []
        program = compile_integrator(
            self.method,
            projects=self.needs_projection,
            has_signals=self.signals_tape is not None,
            is_single=is_single,
        )
        return program, tuple(compile_procedure(tape, is_single=is_single) for tape in tapes)

    @cached_property
    def closing(self) -> Projection | None:
        """Singular values of the constraints, if singular configurations are possible."""
        is_numeric = self.holds_constraints and not self.kept
        return Projection(self.system.model) if is_numeric else None

    @cached_property
    def with_modes(self) -> CompiledMotion | None:
        """The program that has the forces of all modes; None if Python computes them."""
        if self.mode_functions is None:
            return None
        return CompiledMotion(self.system, self.method.name, self.events, has_modes=True)
