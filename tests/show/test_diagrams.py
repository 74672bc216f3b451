"""Free bodies and polygons: Newton's second law closes them, and geometry says how they look."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright import show
from linkwright.errors import LinkwrightError, UnsupportedError
from linkwright.expressions import expression_to_float
from linkwright.kinematics.assembly import nearest_constrained_velocities
from linkwright.show.arrows import arrow_magnitude_label
from linkwright.show.force_polygon_figures import force_polygon_corners
from linkwright.show.mechanism_scene import mechanism_scene

from ..references.four_bar import FourBar

MECHANISMS = ["triple-pendulum", "cart-pole", "stanford-rrp", "four-bar", "slider-crank-sundials"]


def state(name: str) -> tuple[lw.Mechanism, np.ndarray, np.ndarray, np.ndarray]:
    mechanism = lw.gallery(name)
    rng = np.random.default_rng(3)
    q = mechanism_scene(mechanism).home + rng.uniform(
        -0.4, 0.4, len(mechanism_scene(mechanism).home)
    ) * (not mechanism.loops)
    qd, tau = rng.uniform(-1, 1, (2, len(q)))
    return (
        mechanism,
        q,
        nearest_constrained_velocities(mechanism, q, qd) if mechanism.loops else qd,
        tau,
    )


@pytest.mark.parametrize("name", MECHANISMS)
def test_forces_and_moments_close(name: str) -> None:
    """ΣF = m a of every body, a by differences of its positions along the motion; and moments."""
    mechanism, q, qd, tau = state(name)
    model, h = lw.compile(mechanism, threads=1), 1e-3
    times = h * np.arange(-2, 3)[:, None]
    path = q + times * qd + times**2 / 2 * model.forward_dynamics(q, qd, tau)
    bodies = show.free_bodies(mechanism, q, qd, tau)
    assert {body.name for body in bodies} == set(mechanism.bodies)
    for body in bodies:
        local = np.linalg.inv(model.placement(body.name)(q)) @ [*body.center, 1]
        c = (model.placement(body.name)(path) @ local)[:, :3]
        a = np.array([-1, 16, -30, 16, -1]) @ c / (12 * h * h)
        mass = expression_to_float(mechanism.bodies[body.name].mass, mechanism.values)
        force = sum(load.force for load in body.applied)
        np.testing.assert_allclose(force, mass * a, atol=1e-7 * max(1, np.abs(force).max()))
        gap, twist = body.gap
        assert max(np.abs(gap).max(), np.abs(twist).max()) < 1e-10


def test_the_reaction_of_a_rod_by_hand() -> None:
    q, w, g = 0.4, 1.7, 9.81
    (body,) = show.free_bodies(lw.gallery("chain-1"), [q], [w])
    alpha = -1.5 * g * np.cos(q)
    a = 0.5 * (alpha * np.array([-np.sin(q), np.cos(q)]) - w**2 * np.array([np.cos(q), np.sin(q)]))
    loads = {load.name: load for load in body.applied}
    np.testing.assert_allclose(loads["q1"].force, [a[0], a[1] + g, 0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(loads["weight"].force, [0, -g, 0])
    np.testing.assert_allclose(loads["q1"].moment, 0, atol=1e-12)
    np.testing.assert_allclose(body.rate[:2], a, rtol=1e-12)


def test_a_compliant_contact_is_named_and_pushes_by_its_depth() -> None:
    mechanism = lw.load("""
    bodies.block = { mass = 2 }
    joints.z = { type = "prismatic", child = "block" }
    forces.pull = { type = "wrench", on = "block", force = [0, 0, 3] }
    contacts.floor = { point = "block", stiffness = 1000 }
    """)
    (body,) = show.free_bodies(mechanism, [-0.01])
    found = {load.name: load.force[2] for load in body.applied if load.name != "z"}
    depth = 1000 * 0.01**1.5
    assert found == pytest.approx({"weight": -2 * 9.81, "contact 1": depth, "load 1": 3})


def test_force_polygons_are_drawn_closed() -> None:
    mechanism, q, qd, tau = state("four-bar")
    view = mechanism_scene(mechanism).view()
    for body in show.free_bodies(mechanism, q, qd, tau):
        corners = force_polygon_corners(body, view)
        assert len(corners) == len(body.applied) + 1
        np.testing.assert_allclose(corners[-1], view(body.rate), atol=1e-12)
    figure = show.force_polygons(mechanism, q, qd, tau)
    assert [axes.get_title() for axes in figure.axes] == ["crank", "coupler", "rocker"]


def test_velocity_and_acceleration_images_of_the_four_bar() -> None:
    """Against Freudenstein's closed form; a link's image is the link, turned a right angle and
    scaled by its angular speed."""
    linkage, w = FourBar(), 1.9
    theta = linkage.angles(0.8)
    G, _ = linkage.influence(theta)
    rate = G * w
    e, n = (
        np.column_stack([np.cos(theta), np.sin(theta)]),
        np.column_stack([-np.sin(theta), np.cos(theta)]),
    )
    found = show.images(lw.gallery("four-bar"), theta, rate)
    at = {(i.name, i.body): i for i in found}
    np.testing.assert_allclose(at["q2", "crank"].velocity[:2], w * n[0], atol=1e-9)
    np.testing.assert_allclose(at["pin", "rocker"].velocity[:2], 2.5 * rate[2] * n[2], atol=1e-9)
    np.testing.assert_allclose(
        at["pin", "coupler"].velocity, at["pin", "rocker"].velocity, atol=1e-9
    )
    np.testing.assert_allclose(
        at["pin", "coupler"].acceleration, at["pin", "rocker"].acceleration, atol=1e-8
    )
    normal = at["q2", "crank"].acceleration[:2] @ e[0]
    np.testing.assert_allclose(normal, -(w**2), atol=1e-9)
    image = at["pin", "coupler"].velocity - at["q2", "coupler"].velocity
    link = at["pin", "coupler"].position - at["q2", "coupler"].position
    assert abs(image @ link) < 1e-9
    np.testing.assert_allclose(np.linalg.norm(image), abs(rate[1]) * 3.0, rtol=1e-9)
    figure = show.velocity_polygon(lw.gallery("four-bar"), theta, rate)
    assert "$o$" in {text.get_text() for text in figure.axes[0].texts}
    assert (
        show.acceleration_polygon(lw.gallery("four-bar"), theta, rate).axes[0].get_xlabel()
        == "$a_x$ / m/s²"
    )


def test_what_rolls_is_held_by_constraints() -> None:
    """A disk at rest on the floor: the floor carries its weight."""
    (disk,) = show.free_bodies(lw.gallery("rolling-disk"))
    loads = {load.name: load.force for load in disk.applied}
    np.testing.assert_allclose(loads["constraints"], -loads["weight"], atol=1e-9)


def test_free_body_diagrams_in_the_plane_and_in_space() -> None:
    for name in ("four-bar", "stanford-rrp"):
        mechanism, q, qd, tau = state(name)
        figure = show.free_body_diagrams(mechanism, q, qd, tau)
        assert [axes.get_title() for axes in figure.axes] == [*mechanism.bodies]


def test_refusals() -> None:
    with pytest.raises(UnsupportedError, match="polygons are for planar mechanisms"):
        show.velocity_polygon(lw.gallery("stanford-rrp"))
    with pytest.raises(LinkwrightError, match="qd is not 2 finite numbers"):
        show.free_bodies(lw.gallery("elbow"), [0.0, 0.0], [np.nan, 0.0])


@pytest.mark.parametrize(
    ("size", "text"),
    [(2141.2, "2140 N"), (51.83, "51.8 N"), (999.6, "1000 N"), (345678.0, "346000 N"),
     (2.5e7, "2.5e+07 N"), (0.0123, "0.0123 N")],
)  # fmt: skip
def test_magnitudes_are_written_without_powers_of_ten_up_to_a_million(
    size: float, text: str
) -> None:
    assert arrow_magnitude_label(np.array([0.0, size, 0.0]), "N") == text
