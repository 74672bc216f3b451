"""Mechanisms in EXUDYN: four-bar linkage, rolling coin and Bricard's mechanism, each as a solver.

A solver takes the number of steps and returns one number of the final state, so that the accuracy
of both programs can be compared. EXUDYN's second-order implicit integrator (generalized α, index 2)
is used, as in its own examples of these mechanisms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

GRAVITY = 9.81

REDUNDANT_ROW = 4
"""The row of the last joint of Bricard's mechanism that the others imply; EXUDYN needs independent
rows."""


def _solver(mbs: Any, duration: float, value: Callable[[], float]) -> Callable[[int], float]:
    """Return a function that integrates an assembled system with a given number of steps."""
    import exudyn as exu

    mbs.Assemble()
    settings = exu.SimulationSettings()
    steps = settings.timeIntegration
    steps.endTime = duration
    steps.verboseMode = 0
    steps.newton.useModifiedNewton = True
    steps.newton.relativeTolerance, steps.newton.absoluteTolerance = 1e-10, 1e-12
    steps.generalizedAlpha.useIndex2Constraints = True
    steps.generalizedAlpha.useNewmark = True
    steps.generalizedAlpha.computeInitialAccelerations = True
    settings.solutionSettings.writeSolutionToFile = False
    settings.displayStatistics = settings.displayComputationTime = False

    def solve(count: int) -> float:
        steps.numberOfSteps = count
        mbs.SolveDynamic(settings)
        return value()

    return solve


def _system() -> tuple[Any, Any]:
    """Return the container, which must live as long as the system, and the system."""
    import exudyn as exu

    container = exu.SystemContainer()
    return container, container.AddSystem()


def four_bar(start: np.ndarray, rate: np.ndarray, duration: float) -> Callable[[int], float]:
    """Rods of 1, 3 and 2.5 m on a ground of 3.5 m; returns the angle of the crank."""
    import exudyn as exu
    from exudyn.utilities import RigidBodyInertia, RotationMatrixZ

    container, mbs = _system()
    ground, lengths, bodies = mbs.CreateGround(), (1.0, 3.0, 2.5), []
    ends = [np.zeros(2), np.zeros(2), np.array([3.5, 0.0])]
    ends[1] = lengths[0] * np.array([math.cos(start[0]), math.sin(start[0])])
    velocities = [np.zeros(2)] * 3
    velocities[1] = rate[0] * np.array([-ends[1][1], ends[1][0]])
    for angle, speed, length, end, velocity in zip(
        start, rate, lengths, ends, velocities, strict=True
    ):
        along = length / 2 * np.array([math.cos(angle), math.sin(angle)])
        turn = speed * np.array([-along[1], along[0]])
        inertia = RigidBodyInertia(1.0, np.diag([1.0, 1.0, length**2 / 12]))
        bodies.append(
            mbs.CreateRigidBody(
                inertia=inertia,
                referencePosition=[*(end + along), 0.0],
                referenceRotationMatrix=RotationMatrixZ(angle),
                initialVelocity=[*(velocity + turn), 0.0],
                initialAngularVelocity=[0.0, 0.0, speed],
                gravity=[0.0, -GRAVITY, 0.0],
                nodeType=exu.NodeType.RotationEulerParameters,
            )
        )
    pin = ends[2] + 2.5 * np.array([math.cos(start[2]), math.sin(start[2])])
    for pair, place, is_planar in (
        ([ground, bodies[0]], ends[0], False),
        ([bodies[0], bodies[1]], ends[1], False),
        ([ground, bodies[2]], ends[2], False),
        ([bodies[1], bodies[2]], pin, True),
    ):
        mbs.CreateGenericJoint(
            bodyNumbers=pair,
            position=[*place, 0.0],
            constrainedAxes=[1, 1, 0, 0, 0, 0] if is_planar else [1, 1, 1, 1, 1, 0],
            useGlobalFrame=True,
        )
    kind = exu.OutputVariableType.RotationMatrix

    def crank_angle() -> float:
        matrix = mbs.GetObjectOutputBody(bodies[0], kind, [0, 0, 0])
        assert container is not None
        return math.atan2(matrix[3], matrix[0])

    return _solver(mbs, duration, crank_angle)


def coin(lean: float, spin: float, radius: float, duration: float) -> Callable[[int], float]:
    """A thin disk that leans and turns about the vertical; returns the height of its centre."""
    import exudyn as exu
    from exudyn.utilities import RigidBodyInertia, RotationMatrixY

    container, mbs = _system()
    ground, rotation = mbs.CreateGround(), RotationMatrixY(lean)
    center = rotation @ np.array([0.0, 0.0, radius])
    turn = np.array([0.0, 0.0, spin])
    diagonal = radius**2 * np.array([0.5, 0.25, 0.25])
    body = mbs.CreateRigidBody(
        inertia=RigidBodyInertia(1.0, np.diag(diagonal)),
        referencePosition=center.tolist(),
        referenceRotationMatrix=rotation,
        initialVelocity=np.cross(turn, center).tolist(),
        initialAngularVelocity=turn.tolist(),
        gravity=[0.0, 0.0, -GRAVITY],
        nodeType=exu.NodeType.RotationEulerParameters,
    )
    mbs.CreateRollingDisc(
        bodyNumbers=[ground, body],
        axisPosition=[0.0, 0.0, 0.0],
        axisVector=[1.0, 0.0, 0.0],
        planePosition=[0.0, 0.0, 0.0],
        planeNormal=[0.0, 0.0, 1.0],
        discRadius=radius,
    )
    kind = exu.OutputVariableType.Position

    def height() -> float:
        assert container is not None
        return float(mbs.GetObjectOutputBody(body, kind, [0, 0, 0])[2])

    return _solver(mbs, duration, height)


def bricard(duration: float) -> Callable[[int], float]:
    """Five rods along the edges of a cube, at rest; returns x of the point between rods 2 and 3."""
    import exudyn as exu
    from exudyn.utilities import RigidBodyInertia

    container, mbs = _system()
    corners = np.array(
        [[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], dtype=float
    )
    axes = np.eye(3)[[1, 2, 0, 1, 2, 0]]
    ground, bodies = mbs.CreateGround(), []
    for first, last in pairwise(corners):
        along = np.abs(last - first)
        moments = (1 + 0.1**2) / 12 * (1 - along) + 0.1**2 / 6 * along
        bodies.append(
            mbs.CreateRigidBody(
                inertia=RigidBodyInertia(1.0, np.diag(moments)),
                referencePosition=((first + last) / 2).tolist(),
                gravity=[0.0, -GRAVITY, 0.0],
                nodeType=exu.NodeType.RotationEulerParameters,
            )
        )
    chain = [ground, *bodies, ground]
    for k, (corner, axis) in enumerate(zip(corners, axes, strict=True)):
        held = np.append(np.ones(3), 1 - axis).astype(int)
        if k == len(corners) - 1:
            held[REDUNDANT_ROW] = 0
        mbs.CreateGenericJoint(
            bodyNumbers=chain[k : k + 2],
            position=corner.tolist(),
            constrainedAxes=held.tolist(),
            useGlobalFrame=True,
        )
    kind = exu.OutputVariableType.Position

    def place() -> float:
        assert container is not None
        return float(mbs.GetObjectOutputBody(bodies[1], kind, [0, -0.5, 0])[0])

    return _solver(mbs, duration, place)
