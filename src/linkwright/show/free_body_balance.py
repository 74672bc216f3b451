"""Free bodies: all forces and moments on every body at a state, and the motion that they cause."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..displays import NotebookDisplayed
from ..kinematics.body_forces import BodyForce
from ..kinematics.kinematic_tree import KinematicTree
from ..kinematics.pose_configurations import read_pose
from ..kinematics.tree_coordinates import spread_velocities
from ..kinematics.world_kinematics import WorldKinematics
from ..mechanism import GROUND, Mechanism
from ..model.model import Model
from ..number_checks import check_vector
from ..simulation.body_motions import BodyMotions
from ..types import Floats
from .histories import drawing_model
from .mechanism_scene import Scene, mechanism_scene


@dataclass(frozen=True)
class FreeBodyLoad:
    """A force and a moment on a body at a point of the world, world axes."""

    name: str
    point: Floats
    force: Floats
    moment: Floats


@dataclass(frozen=True, repr=False)
class FreeBody(NotebookDisplayed):
    """A body with all forces and moments that act on it.

    Attributes
    ----------
    name : str
        The body.
    center : (3,) array
        Its centre of mass in the world, m.
    applied : tuple
        Forces (N) and moments (N m) with their names and points, world axes.
    rate, turning : (3,) array
        m a, N, and the rate of the angular momentum about the centre of mass, N m: the sums of
        forces and moments.

    Examples
    --------
    >>> import linkwright as lw
    >>> forearm = lw.show.free_bodies(lw.gallery("elbow"))[1]
    >>> joint, weight = forearm.applied
    >>> joint.name, weight.name, weight.force.tolist()  # 1 kg
    ('q2', 'weight', [0.0, -9.81, 0.0])
    """

    name: str
    center: Floats
    applied: tuple[FreeBodyLoad, ...]
    rate: Floats
    turning: Floats

    def summary(self) -> str:
        """Return one line: the body and what acts on it."""
        return f"FreeBody {self.name}: {', '.join(one.name for one in self.applied)}"

    @property
    def gap(self) -> tuple[Floats, Floats]:
        """Residuals of the balances of forces, N, and of moments about the centre of mass, N m."""
        force = sum((a.force for a in self.applied), np.zeros(3)) - self.rate
        levers = [np.cross(a.point - self.center, a.force) + a.moment for a in self.applied]
        return force, sum(levers, np.zeros(3)) - self.turning


@dataclass(frozen=True)
class FreeBodyState:
    """A state with its accelerations and generalized forces."""

    model: Model
    q: Floats
    qd: Floats
    qdd: Floats
    tau: Floats
    t: float

    @property
    def clock(self) -> list[float]:
        """The time as an argument of the model; nothing if the model does not depend on time."""
        return self.model.names.time_arguments(self.t)


def free_body_state(
    mechanism: Mechanism,
    q: ArrayLike | None,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    t: float = 0.0,
) -> FreeBodyState:
    """The state at given or default numbers (home, at rest, no efforts), with its accelerations."""
    model = drawing_model(mechanism)
    nq, nv, names = model.nq, model.nv, model.names
    given = mechanism_scene(mechanism).home if q is None else read_pose(mechanism, q)
    here = check_vector(given, nq, "q", names.q)
    velocities = np.zeros(nv) if qd is None else check_vector(qd, nv, "qd", names.qd)
    efforts = np.zeros(nv) if tau is None else check_vector(tau, nv, "tau", names.qd)
    clock = model.names.time_arguments(t)
    qdd = np.asarray(model.forward_dynamics(here, velocities, efforts, *clock), dtype=float)
    return FreeBodyState(model, here, velocities, qdd, efforts, t)


def free_bodies(
    mechanism: Mechanism,
    q: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    t: float = 0.0,
) -> list[FreeBody]:
    """Return all moving bodies at a state with the forces and moments that act on them.

    These are reactions of joints and loops, weight, springs and given wrenches; what rods, wheels
    and other constraints apply closes the balance.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    q, qd, tau : (nq,), (nv,) and (nv,) arrays, optional
        Coordinates, velocities and generalized forces: rad or m, rad/s or m/s, N m or N
        (default: home, at rest, zero).
    t : float
        Time, s.

    Returns
    -------
    list of FreeBody
        One for each moving body.

    Examples
    --------
    >>> import linkwright as lw
    >>> [body.name for body in lw.show.free_bodies(lw.gallery("elbow"))]
    ['link1', 'link2']
    """
    state = free_body_state(mechanism, q, qd, tau, t)
    motions = BodyMotions.from_model(state.model, state.t, state.q, state.qd, state.qdd)
    acting = _free_body_reactions(state)
    for name, load in _free_body_loads(state):
        acting.setdefault(name, []).append(load)
    rate = motions.masses[:, None] * motions.center_acceleration
    w, alpha = motions.twists[:, :3], motions.twist_rates[:, :3]
    spin = np.einsum("bij,bj->bi", motions.world_inertia, w)
    turning = np.einsum("bij,bj->bi", motions.world_inertia, alpha) + np.cross(w, spin)
    found = []
    for b, solid in enumerate(motions.bodies):
        own = list(acting.get(solid.name, []))
        weight = solid.mass * motions.gravity
        if np.any(weight):
            own.append(FreeBodyLoad("weight", motions.center_of_mass[b], weight, np.zeros(3)))
        body = FreeBody(solid.name, motions.center_of_mass[b], tuple(own), rate[b], turning[b])
        found.append(_add_constraint_load(body, state))
    return found


def _add_constraint_load(body: FreeBody, state: FreeBodyState) -> FreeBody:
    """Adds the force of constraints that are not joints, if there are any: it closes the
    balance."""
    tree = mechanism_scene(state.model.mechanism).tree
    jointed = all(tie.loop_frames for tie in tree.restraints.entries)
    if jointed and not state.model.mechanism.contacts:
        return body
    force, moment = body.gap
    size = max(1.0, *(float(np.linalg.norm(a.force)) for a in body.applied))
    if max(np.abs(force).max(), np.abs(moment).max()) < 1e-9 * size:
        return body
    rest = FreeBodyLoad("constraints", body.center, -force, -moment)
    return FreeBody(body.name, body.center, (*body.applied, rest), body.rate, body.turning)


def _free_body_reactions(state: FreeBodyState) -> dict[str, list[FreeBodyLoad]]:
    """The reactions of joints and loops by body, on the child and opposite on the parent."""
    model, mechanism = state.model, state.model.mechanism
    under, last = "reactions", state.tau
    if not model.names.constraints:
        under, last = "reactions_of_motion", state.qdd
    rows = np.asarray(getattr(model, under)(state.q, state.qd, last, *state.clock), dtype=float)
    points = drawn_joint_points(mechanism_scene(mechanism), state.q, state.t)
    acting: dict[str, list[FreeBodyLoad]] = {}
    for row, name in zip(rows, (*model.joint_names, *model.loop_names), strict=True):
        joint = mechanism.joints[name] if name in mechanism.joints else mechanism.loops[name]
        moment, force = row[:3], row[3:]
        for body, sign in ((joint.child, 1.0), (joint.parent, -1.0)):
            if body != GROUND:
                load = FreeBodyLoad(name, points[name], sign * force, sign * moment)
                acting.setdefault(body, []).append(load)
    return acting


def drawn_joint_points(scene: Scene, q: Floats, t: float) -> dict[str, Floats]:
    """The origins of joints and loops in the world, m, about which reactions are given."""
    poses = scene.link_placements(q, t)
    found = {}
    for span in scene.tree.joints:
        found[span.name] = scene.drawn_point_in_world(poses, span.frame.link, span.frame.p)
    for tie in scene.tree.restraints.entries:
        for place in tie.loop_frames[:1]:
            found[tie.name] = scene.drawn_point_in_world(poses, place.link, place.p)
    return found


def _free_body_loads(state: FreeBodyState) -> list[tuple[str, FreeBodyLoad]]:
    """The forces of force elements at a state, with the bodies on which they act."""
    tree: KinematicTree = mechanism_scene(state.model.mechanism).tree
    motion = tree.motion
    named = _labelled_free_body_loads(tree)
    if not named:
        return []
    names, loads = zip(*named, strict=True)
    columns = ca.horzcat(*(ca.vertcat(x.point, x.force, x.moment) for x in loads))
    function = ca.Function("loads", [motion.q, motion.qd, motion.t], [columns])
    values = np.asarray(function(state.q, state.qd, state.t), dtype=float).T
    return [
        (load.body, FreeBodyLoad(name, row[:3], row[3:6], row[6:]))
        for load, name, row in zip(loads, names, values, strict=True)
        if load.body != GROUND
    ]


def _labelled_free_body_loads(tree: KinematicTree) -> list[tuple[str, BodyForce]]:
    """The forces of force elements on bodies as expressions, with numbered names."""
    world, v = WorldKinematics(tree, tree.motion.q), spread_velocities(tree, tree.motion.qd)
    numbers: Counter[str] = Counter()
    found = []
    for element in (*tree.forces.passive_elements, *tree.forces.declared_elements):
        loads = element.body_forces(world, v)
        numbers[element.label] += bool(loads)
        found += [(f"{element.label} {numbers[element.label]}", load) for load in loads]
    return found
