"""SDF files by Drake: placements, mass matrix and inverse dynamics, at random states."""

from __future__ import annotations

import logging
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from tests.files.test_sdf import HAND, arm_with_hand, axis, joint, link, model

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def drake() -> Any:
    """Drake's modules; the test that needs them is skipped without them."""
    pytest.importorskip("pydrake", reason="drake (extra [bench]) is not installed")
    logging.getLogger("drake").setLevel(logging.CRITICAL)
    import pydrake.all

    return pydrake.all


def turn(quaternion: np.ndarray) -> np.ndarray:
    w, x, y, z = quaternion
    V = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * V + 2 * V @ V


class DrakeTwin:
    """A file as ours and as Drake's, with the map between their coordinates.

    Ours: quaternions, velocities in the child's frame. Drake's: roll, pitch, yaw of ball joints
    with ω in the parent's frame; free bodies absolute, with velocities in the world's axes.
    """

    def __init__(self, drake: Any, text: str) -> None:
        self.drake = drake
        self.plant = drake.MultibodyPlant(0.0)
        drake.Parser(self.plant).AddModelsFromString(text, "sdf")
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()
        self.arm = lw.load(text).without("damping", "friction", "springs", "limits")
        self.joints = [self.plant.get_joint(i) for i in self.plant.GetJointIndices()]

    @cached_property
    def ours(self) -> lw.Model:
        return lw.compile(self.arm)

    def match(self, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        """Return our q, v and a of a random state, Drake's q, and A with v_drake = A v."""
        plant, names = self.plant, self.ours.names
        theirs = rng.uniform(-1, 1, plant.num_positions())
        q, v, a = np.zeros(len(names.q)), *rng.uniform(-1, 1, (2, len(names.qd)))
        A = np.zeros((plant.num_velocities(), len(v)))
        for one in self.joints:
            at, to = one.position_start(), one.velocity_start()
            if one.num_positions() == 0:
                continue
            kind, name = one.type_name(), one.name()
            if kind == "quaternion_floating":
                name = one.child_body().name()
                theirs[at : at + 4] /= np.linalg.norm(theirs[at : at + 4])
            own = [i for i, n in enumerate(names.q) if n.split(".")[0] in (name, f"{name}_free")]
            rates = [i for i, n in enumerate(names.qd) if n.split(".")[0] in (name, f"{name}_free")]
            assert len(rates) == one.num_velocities(), (kind, name, names.qd)
            if kind == "ball_rpy":
                R = self.drake.RollPitchYaw(theirs[at : at + 3]).ToRotationMatrix()
                q[own] = R.ToQuaternion().wxyz()
                A[to : to + 3, rates] = R.matrix()
            elif kind == "quaternion_floating":
                R, start = turn(theirs[at : at + 4]), self.ours.placement(name)(self.ours.neutral())
                R0, shift = start[:3, :3], theirs[at + 4 : at + 7] - start[:3, 3]
                own_turn = self.drake.RotationMatrix(R0.T @ R)
                q[own] = [*(R0.T @ shift), *own_turn.ToQuaternion().wxyz()]
                A[to : to + 3, rates[:3]] = A[to + 3 : to + 6, rates[3:]] = R
            else:
                q[own] = theirs[at : at + len(own)]
                A[to : to + len(own), rates] = np.eye(len(own))
        return q, v, a, theirs, A

    def check(self, seed: int) -> None:
        """Compare the placements of all links, the mass matrix and the inverse dynamics."""
        q, v, a, theirs, A = self.match(np.random.default_rng(seed))
        plant, context = self.plant, self.context
        plant.SetPositions(context, theirs)
        plant.SetVelocities(context, A @ v)
        for index in range(plant.num_bodies()):
            body = plant.get_body(self.drake.BodyIndex(index))
            if body.name() in self.arm.bodies:
                T = body.EvalPoseInWorld(context).GetAsMatrix4()
                np.testing.assert_allclose(self.ours.placement(body.name())(q), T, atol=1e-12)
        M = plant.CalcMassMatrix(context)
        np.testing.assert_allclose(self.ours.mass_matrix(q), A.T @ M @ A, rtol=1e-10, atol=1e-11)
        rates = A @ a
        for one in self.joints:
            if one.type_name() == "quaternion_floating":  # d(R v)/dt = R (v̇ + ω × v)
                to = one.velocity_start()
                rates[to + 3 : to + 6] += np.cross(*(A @ v)[to : to + 6].reshape(2, 3))
        torque = M @ rates + plant.CalcBiasTerm(context)
        torque -= plant.CalcGravityGeneralizedForces(context)
        np.testing.assert_allclose(
            self.ours.inverse_dynamics(q, v, a), A.T @ torque, rtol=1e-10, atol=1e-10
        )


SCREW = "<screw_thread_pitch>0.3</screw_thread_pitch>"
INSIDES = {
    "revolute": axis("0.6 0 0.8"),
    "continuous": axis("0 1 0"),
    "prismatic": axis("0 0.6 0.8", expressed_in="__model__"),
    "screw": axis("1 0 0") + SCREW,
    "universal": axis("1 0 0") + axis("0 1 0", tag="axis2"),
    "ball": "",
    "fixed": "",
}


def random_model(seed: int) -> str:
    """A tree of eight links with joints of all types, poses relative to links and frames."""
    rng = np.random.default_rng(seed)

    def pose(count: int = 6) -> str:
        return " ".join(f"{x:.3f}" for x in rng.uniform(-0.5, 0.5, count))

    kinds = rng.permutation([*INSIDES, "revolute"])
    parts = [link("l0", pose(), pose()), joint("j0", "revolute", "world", "l0", axis("0 0 1"))]
    parts.append(f'<frame name="f" attached_to="l0"><pose>{pose()}</pose></frame>')
    for i, kind in enumerate(kinds, 1):
        before = f"l{rng.integers(0, i)}"
        parts.append(link(f"l{i}", pose(), pose(), to=rng.choice([before, "f"])))
        place = f"<pose>{pose()}</pose>"
        parts.append(joint(f"j{i}", kind, before, f"l{i}", place + INSIDES[kind]))
    return model(*parts, version="1.9")


@pytest.mark.parametrize("seed", range(6))
def test_random_models_with_all_joint_types(seed: int, drake: Any) -> None:
    twin = DrakeTwin(drake, random_model(seed))
    for state in range(2):
        twin.check(state)


OLD_AXES = model(
    link("a", "0 0 0 0.5 0.2 0"),
    link("b", "0.3 0 0 0.1 0.6 0", "0.1 0 0.2 0 0 0"),
    joint("j1", "revolute", "world", "a", axis("1 0 0")),
    joint("j2", "universal", "a", "b", axis("0 0 1") + axis("0 1 0", tag="axis2")),
    version="1.4",
)
SCREWS = [SCREW, "<thread_pitch>7</thread_pitch>", "<thread_pitch>-7</thread_pitch>", ""]


@pytest.mark.parametrize(
    "text",
    [OLD_AXES]
    + [model(link("a"), joint("q", "screw", "world", "a", axis("0 0 1") + p)) for p in SCREWS],
)
def test_old_axes_and_pitches_of_screws(text: str, drake: Any) -> None:
    DrakeTwin(drake, text).check(0)


def test_free_bodies_and_nested_models(drake: Any) -> None:
    """A model that nothing holds, with another in it."""
    text = model(
        link("a", center="0.1 0.2 0.3 0.4 0 0"),
        '<model name="inner"><pose relative_to="a">0 0 1 0.1 0.2 0.3</pose>'
        + link("b", "0.1 0 0 0 0 0", "0 0.1 0 0 0 0")
        + "</model>",
        joint("q", "revolute", "a", "inner::b", axis("0 1 0")),
    )
    DrakeTwin(drake, text).check(0)


def test_merged_includes(drake: Any, tmp_path: Path) -> None:
    """A hand from another file, merged into the arm."""
    (tmp_path / "hand").mkdir()
    (tmp_path / "hand" / "model.sdf").write_text(HAND, encoding="utf-8")
    path = tmp_path / "arm.sdf"
    path.write_text(arm_with_hand(' merge="true"', "palm"), encoding="utf-8")
    plant = drake.MultibodyPlant(0.0)
    parser = drake.Parser(plant)
    parser.package_map().Add("hand", str(tmp_path / "hand"))
    text = path.read_text(encoding="utf-8").replace("model://hand", "package://hand/model.sdf")
    parser.AddModelsFromString(text, "sdf")
    plant.Finalize()
    context, made = plant.CreateDefaultContext(), lw.compile(lw.load(path))
    q = np.array([0.3, -0.2, 0.4])
    plant.SetPositions(context, [q[made.names.q.index(n.rpartition("_")[0].removeprefix("arm_"))]
                                 for n in plant.GetPositionNames()])  # fmt: skip
    for name in ("upper", "palm", "finger"):
        T = plant.GetBodyByName(name).EvalPoseInWorld(context).GetAsMatrix4()
        np.testing.assert_allclose(made.placement(name)(q), T, atol=1e-12)


def test_drakes_own_models(drake: Any) -> None:
    """The SDF files that come with Drake: those that it reads as trees."""
    folder = Path(drake.__file__).parent
    found = {}
    for path in sorted(folder.rglob("*.sdf")):
        text = path.read_text(encoding="utf-8")
        try:
            twin = DrakeTwin(drake, text)
        except RuntimeError as error:  # Drake's: meshes that are elsewhere
            found[path.name] = str(error)
            continue
        if twin.plant.num_velocities():
            twin.check(0)
        else:
            assert not any(one.dofs for one in twin.arm.joints.values())
        found[path.name] = ""
    assert sum(not why for why in found.values()) >= 6, found
