"""All Denavit–Hartenberg models of the Robotics Toolbox, as `.dh.toml` files and by the toolbox."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import linkwright as lw

NAMES = [
    "AL5D",
    "Ball",
    "Baxter",
    "Cobra600",
    "Coil",
    "Hyper",
    "Hyper3d",
    "IRB140",
    "Jaco",
    "KR5",
    "LWR4",
    "Mico",
    "Orion5",
    "P8",
    "Panda",
    "Planar2",
    "Planar3",
    "Puma560",
    "Sawyer",
    "Stanford",
    "TwoLink",
    "UR10",
    "UR3",
    "UR5",
]


@pytest.fixture(scope="module")
def models() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("roboticstoolbox", reason="the extra [bench] is not installed")
        from roboticstoolbox.models import DH
    return DH


def words(values: Any) -> str:
    return f"[{', '.join(repr(float(x)) for x in np.ravel(values))}]"


def placement(T: np.ndarray) -> str:
    """A pose by its position and the axes z and x."""
    return f"{{ xyz = {words(T[:3, 3])}, z = {words(T[:3, 2])}, x = {words(T[:3, 0])} }}"


def dh_toml(robot: Any) -> str:
    """The robot as a table; friction and rotors of the toolbox are those of the motors."""
    lines = [f'convention = "{"modified" if robot.mdh else "standard"}"', f'name = "{robot.name}"']
    lines.append(f"gravity = {words(robot.gravity)}")
    lines += [f"base = {placement(robot.base.A)}", f"tool = {placement(robot.tool.A)}"]
    for link in robot.links:
        theta = link.offset if link.isrevolute else link.theta
        d = link.d if link.isrevolute else link.offset
        G = float(link.G)
        forward, backward = (abs(G * float(Tc)) for Tc in link.Tc)
        lines += [
            "[[links]]",
            f'type = "{"revolute" if link.isrevolute else "prismatic"}"',
            *(f"{key} = {float(value)!r}" for key, value in
              (("theta", theta), ("d", d), ("a", link.a), ("alpha", link.alpha))),
            f"mass = {float(link.m)!r}",
            f"center = {words(link.r)}",
            f"inertia = [{', '.join(words(row) for row in link.I)}]",
            f"damping = {G * G * float(link.B)!r}",
            f"friction = {forward!r}",
            f"friction_backward = {backward!r}",
            f"motor = {{ ratio = {G!r}, inertia = {float(link.Jm)!r} }}",
            f"flip = {str(bool(link.isflip)).lower()}",
        ]  # fmt: skip
    return "\n".join(lines)


def give_missing_masses(robot: Any, rng: np.random.Generator) -> None:
    """Give a robot without dynamics random bodies: the toolbox computes nothing without them."""
    if any(link.m for link in robot.links):
        return
    for link in robot.links:
        link.m, link.r = rng.uniform(0.5, 2), rng.uniform(-0.2, 0.2, 3)
        A = rng.uniform(-0.1, 0.1, (3, 3))
        link.I = A @ A.T + 0.02 * np.eye(3)
        link.G, link.Jm, link.B = rng.uniform(1, 3), 1e-3, 0.01
        link.Tc = [0.3, -0.2]


def test_all_models_are_listed(models: Any) -> None:
    found = inspect.getmembers(models, lambda one: inspect.isclass(one) and hasattr(one, "fkine"))
    assert {name for name, _ in found} >= set(NAMES)
    missing = {name for name, _ in found} - set(NAMES)
    assert not {name for name in missing if getattr(models, name)().n}


def unflipped(robot: Any) -> Any:
    """The same arm of revolute joints without `flip`."""
    from roboticstoolbox import DHRobot, RevoluteDH

    keys = ("d", "a", "alpha", "offset", "m", "r", "I", "Jm", "B", "G")
    links = []
    for link in robot.links:
        Tc = [-link.Tc[1], -link.Tc[0]] if link.isflip else link.Tc
        links.append(RevoluteDH(**{key: getattr(link, key) for key in keys}, Tc=Tc))
    return DHRobot(links, gravity=robot.gravity, base=robot.base)


def inverse_dynamics(robot: Any, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """The toolbox's torques. Its compiled code has wrong weights for P8 (they are not the slope of
    its own potential energy), and its recursion ignores `flip` in velocities: so the one in Python,
    for the robot that counts these coordinates the other way."""
    signs = np.array([-1.0 if link.isflip else 1.0 for link in robot.links])
    plain = robot if all(signs > 0) else unflipped(robot)
    return signs * plain.rne_python(signs * q, signs * qd, signs * qdd)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_a_model_agrees_with_the_toolbox(name: str, models: Any) -> None:
    """Placement of the tool, inertia, gravity load, and inverse dynamics with two-sided friction."""
    rng = np.random.default_rng(0)
    robot = getattr(models, name)()
    give_missing_masses(robot, rng)
    made = lw.compile(lw.load(dh_toml(robot)))
    assert made.nv == robot.n
    zero, unit = np.zeros(robot.n), np.eye(robot.n)
    for _ in range(2):
        q, qd, qdd = rng.uniform(-1, 1, (3, robot.n))
        np.testing.assert_allclose(made.placement("tool")(q), robot.fkine(q).A, atol=1e-12)
        torque, weight = (inverse_dynamics(robot, q, *rates) for rates in ((qd, qdd), (zero, zero)))
        inertia = np.column_stack([inverse_dynamics(robot, q, zero, e) - weight for e in unit])
        limit = 1e-10 * max(1.0, float(np.abs(torque).max()))
        np.testing.assert_allclose(made.inverse_dynamics(q, qd, qdd), torque, rtol=0, atol=limit)
        np.testing.assert_allclose(made.gravity(q), weight, rtol=0, atol=limit)
        np.testing.assert_allclose(made.mass_matrix(q), inertia, rtol=0, atol=limit)
        if name != "P8":
            np.testing.assert_allclose(made.gravity(q), robot.gravload(q), rtol=0, atol=limit)
        if not any(link.isflip for link in robot.links):
            np.testing.assert_allclose(made.mass_matrix(q), robot.inertia(q), rtol=0, atol=limit)
