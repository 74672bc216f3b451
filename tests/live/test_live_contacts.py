"""Rigid contacts without friction on live pages: they are events, as in `simulate`."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from tests.live.viewer_modules import STATE, run_modules
from tests.node import needs_node

pytestmark = needs_node

HINGE = {"type": "revolute", "axis": [0, 1, 0]}
LINK = {"mass": 1.0, "center": [0.5, 0, 0], "inertia": [0.01, 0.1, 0.1]}


def pendulum(**contact: object) -> lw.Mechanism:
    """A double pendulum whose tip falls onto a floor, along which it slides."""
    return lw.Mechanism(
        name="pendulum",
        parameters={"l": 1.0},
        bodies={"upper": LINK, "lower": LINK},
        joints={
            "a": HINGE | {"child": "upper"},
            "b": HINGE | {"parent": "upper", "child": "lower", "origin": ["l", 0, 0]},
        },
        frames={
            "tip": {"body": "lower", "origin": [0.6, 0, 0]},
            "low": {"body": "ground", "origin": [0, 0, -1.2]},
        },
        contacts={"floor": {"point": "tip", "plane": "low", **contact}},
    )


@pytest.mark.parametrize("restitution", [0.0, 0.7])
def test_contacts_without_friction_are_those_of_simulate(restitution: float) -> None:
    """The page calls its program some hundred times, and each call finds again what rests."""
    scene = lw.live.scene(pendulum(restitution=restitution))
    assert not any("springs" in note for note in scene.data["notes"])  # type: ignore[attr-defined]
    q, qd, t, said = run_modules(
        "state simulation",
        STATE + "state.q.set([0.3, 0.3]); state.touch(); simulation.advance(0.6);"
        "return [state.q, state.qd, state.t, simulation.message]",
        scene,
    )
    run = lw.simulate(pendulum(restitution=restitution), 0.6, samples=2, q0=[0.3, 0.3], rtol=1e-11)
    assert (said, round(t, 9)) == ("", 0.6)
    np.testing.assert_allclose(q, run.q[-1], atol=1e-9)
    np.testing.assert_allclose(qd, run.qd[-1], atol=1e-8)


def test_reactions_contain_the_force_of_a_contact() -> None:
    """It acts on the tip, and no joint turns the pendulum in its place."""
    scene = lw.live.scene(pendulum())
    found = run_modules(
        "state simulation",
        STATE + "state.q.set([0.3, 0.3]); state.touch(); simulation.advance(0.55);"
        "return [state.holds, state.functions.loads([state.t], state.stateVector, state.motionVector)]",
        scene,
    )
    run = lw.simulate(pendulum(), 0.55, samples=2, q0=[0.3, 0.3], rtol=1e-11)
    assert list(found[0]) == [1]
    loads = np.reshape(found[1], (-1, 6))
    np.testing.assert_allclose(loads, run.reactions[-1], atol=1e-6)
    assert np.abs(loads[:, 1]).max() < 1e-9


def test_contacts_move_with_parameters() -> None:
    """A shorter link: the tip lands elsewhere."""
    scene = lw.live.scene(pendulum())
    q, length = run_modules(
        "state simulation",
        STATE + "const k = scene.parameters.findIndex((one) => one.name === 'l');"
        "state.p[k] = 0.9; state.q.set([0.3, 0.3]); state.touch(); simulation.advance(0.6);"
        "return [state.q, state.p[k]]",
        scene,
    )
    shorter = pendulum().with_parameters(l=0.9)
    run = lw.simulate(shorter, 0.6, samples=2, q0=[0.3, 0.3], rtol=1e-11)
    assert any("rests" in str(event) for event in run.events)
    assert length == 0.9
    np.testing.assert_allclose(q, run.q[-1], atol=1e-9)


def test_contacts_with_friction_stay_springs() -> None:
    mixed = pendulum(friction=0.2, restitution=0.5)
    notes = lw.live.scene(mixed).data["notes"]
    assert "Contacts with friction are stiff springs here, which rebound as rigid ones do." in notes  # type: ignore[operator]
