"""Stick figures: every mechanism is drawn, and what is drawn stands where geometry says."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright import show
from linkwright.show.link_glyphs import inertia_box_glyph_edges
from linkwright.show.mechanism_scene import mechanism_scene
from linkwright.show.view_direction import View

from ..linkages.linkage_files import offset_press
from ..references.four_bar import FourBar
from . import runs

PLANAR = {
    "triple-pendulum-points": "xy", "bouncing-ball": "xz", "stick-slip": "xz", "3-rrr": "xy", "car": "xy", "cart-pole": "xy", "cartesian": "yz", "chain-6": "xy", "elbow": "xy",
    "five-bar": "xy", "four-bar": "xy", "n-four-bar": "xy", "remote-elbow": "xy",
    "slider-crank": "xy", "slider-crank-sundials": "xy", "triple-pendulum": "xy",
    "trolley-trailers": "xy",
}  # fmt: skip


@pytest.mark.parametrize("name", lw.gallery())
def test_every_mechanism_is_drawn(name: str) -> None:
    mechanism = lw.gallery(name)
    figure = show.figure_of(mechanism, names=True, dimensions=True)
    axes = figure.axes[0]
    assert len(axes.get_children()) > 8
    view = mechanism_scene(mechanism).view()
    assert view.is_planar == (name in PLANAR)
    if view.is_planar:
        assert view.axis_name(view.right) + view.axis_name(view.up) == PLANAR[name]
        assert axes.get_xlabel() == f"{PLANAR[name][0]} / m"
    assert axes.get_aspect() == 1


def members(name: str, q: object) -> list[np.ndarray]:
    scene = mechanism_scene(lw.gallery(name))
    poses = scene.link_placements(q)
    return [
        np.array([scene.drawn_point_in_world(poses, s.link, p) for p in s.points])
        for s in scene.link_glyphs
    ]


def test_links_of_the_elbow_by_hand() -> None:
    a, b = 0.7, -0.4
    knee = [np.cos(a), np.sin(a), 0]
    tool = [np.cos(a) + np.cos(a + b), np.sin(a) + np.sin(a + b), 0]
    upper, fore = members("elbow", [a, b])
    np.testing.assert_allclose(upper, [[0, 0, 0], knee], atol=1e-12)
    np.testing.assert_allclose(fore, [knee, tool], atol=1e-12)


def test_links_of_the_four_bar_by_freudenstein() -> None:
    """All ends where the closed form has them; coupler and rocker meet."""
    theta = FourBar().angles(1.2)
    e = np.column_stack([np.cos(theta), np.sin(theta), 0 * theta])
    A, pivot = e[0], np.array([3.5, 0, 0])
    B = A + 3 * e[1]
    for found, ends in zip(
        members("four-bar", theta), ([0 * A, A], [A, B], [pivot, B]), strict=True
    ):
        flipped = found if np.allclose(found[0], ends[0]) else found[::-1]
        np.testing.assert_allclose(flipped, ends, atol=1e-9)


def test_a_rod_of_which_only_the_mass_is_known() -> None:
    """A uniform rod's end follows from its mass centre and inertia; a point mass ends there."""
    for inertia, length in ((1 / 12, 1.0), (0.0, 0.5)):
        arm = lw.Mechanism(
            name="rod", gravity=[0, -9.81, 0], bodies={"rod": {"mass": 1, "center": [0.5, 0, 0], "inertia": {"zz": inertia}}},
            joints={"q": {"type": "revolute", "child": "rod"}},
        )  # fmt: skip
        (shape,) = mechanism_scene(arm).link_glyphs
        np.testing.assert_allclose(shape.points, [[0, 0, 0], [length, 0, 0]], atol=1e-9)


def test_a_leg_ends_at_its_foot() -> None:
    """What is fixed farthest out ends a last link, and there is one mass centre for both."""
    leg = lw.Mechanism(
        name="leg", gravity=[0, -9.81, 0],
        bodies={"shank": {"mass": 3, "center": [0.1, 0, 0]}, "foot": {"mass": 1}},
        joints={"knee": {"type": "revolute", "child": "shank"},
                "ankle": {"type": "fixed", "parent": "shank", "child": "foot", "origin": [0.4, 0.3, 0]}},
    )  # fmt: skip
    (shape,), (center,) = mechanism_scene(leg).link_glyphs, mechanism_scene(leg).center_glyphs
    np.testing.assert_allclose(shape.points, [[0, 0, 0], [0.4, 0.3, 0]], atol=1e-12)
    np.testing.assert_allclose(center.points, [[(0.3 + 0.4) / 4, 0.3 / 4, 0]], atol=1e-12)


def test_a_ball_that_falls_is_drawn_to_scale_over_its_floor() -> None:
    from linkwright.show.ground_glyphs import build_ground_glyphs

    scene = mechanism_scene(lw.gallery("bouncing-ball"))
    assert scene.link_glyphs == []
    for shape in scene.wheel_glyphs:
        np.testing.assert_allclose(np.linalg.norm(shape.points, axis=1), 0.05, rtol=1e-12)
    floor = build_ground_glyphs(scene, scene.link_placements(scene.home)[None], scene.view())[0]
    np.testing.assert_allclose(floor.points[:, 2], 0, atol=1e-12)


def test_a_platform_is_a_plate() -> None:
    """Of the 3-RRR: an equilateral triangle on a circle of 0.15 m."""
    (plate,) = [
        shape for shape in mechanism_scene(lw.gallery("3-rrr")).link_glyphs if shape.kind == "plate"
    ]
    sides = np.linalg.norm(plate.points - np.roll(plate.points, 1, axis=0), axis=1)
    np.testing.assert_allclose(sides, 0.15 * np.sqrt(3), rtol=1e-12)


def test_the_box_of_an_inertia() -> None:
    """A uniform box of 0.2 × 0.3 × 0.5 m has edges of just these lengths."""
    sides, m = np.array([0.2, 0.3, 0.5]), 7.0
    tensor = m / 12 * np.diag((sides**2).sum() - sides**2)
    pairs = inertia_box_glyph_edges(m, np.array([1.0, 2.0, 3.0]), tensor).reshape(-1, 2, 3)
    lengths = np.linalg.norm(pairs[:, 0] - pairs[:, 1], axis=1)
    np.testing.assert_allclose(np.sort(lengths), np.repeat(sides, 4), rtol=1e-12)
    np.testing.assert_allclose(pairs.mean(axis=(0, 1)), [1, 2, 3])


def test_views() -> None:
    scene = mechanism_scene(lw.gallery("six-axis"))
    for asked in (None, "xy", (30.0, 10.0)):
        view = scene.view(asked)  # type: ignore[arg-type]
        Q = np.array([view.right, view.up, view.toward_eye])
        np.testing.assert_allclose(Q @ Q.T, np.eye(3), atol=1e-12)
    above = scene.view((0.0, 90.0))
    np.testing.assert_allclose(above.toward_eye, [0, 0, 1], atol=1e-12)
    assert View(np.eye(3)[0], np.eye(3)[2], True).axis_name(np.array([0, -1.0, 0])) == "−y"


def test_a_cyclograph_has_a_figure_each_interval_and_true_traces() -> None:
    run = runs.elbow()
    figure = run.cyclograph(0.1, trace=["tool"])
    axes = figure.axes[0]
    trace = next(line for line in axes.get_lines() if line.get_label() == "tool")
    a, b = run.q.T
    path = np.column_stack([np.cos(a) + np.cos(a + b), np.sin(a) + np.sin(a + b)])
    np.testing.assert_allclose(trace.get_xydata(), path, atol=1e-12)
    links = [line.get_xydata() for line in axes.get_lines() if line.get_linewidth() == 2.2 * 0.45]
    assert len(links) == 2 * 6
    np.testing.assert_allclose(links[-1][-1], path[-1], atol=1e-12)


def test_bodies_are_traced_by_their_mass_centres() -> None:
    run = lw.simulate(lw.gallery("chain-1"), t=0.2, samples=5)
    line = next(
        line
        for line in run.cyclograph(trace=["link1"]).axes[0].get_lines()
        if line.get_label() == "link1"
    )
    q, path = run.q[:, 0], line.get_xydata()
    np.testing.assert_allclose(np.linalg.norm(path, axis=1), 0.5, atol=1e-12)
    at_samples = path[:: (len(path) - 1) // 4]
    np.testing.assert_allclose(at_samples, np.column_stack([np.cos(q), np.sin(q)]) / 2, atol=1e-12)


def test_what_cannot_move_is_refused() -> None:
    block = lw.Mechanism(
        bodies={"a": {"mass": 1}}, joints={"weld": {"type": "fixed", "child": "a"}}
    )
    with pytest.raises(lw.LinkwrightError, match="cannot move: there is nothing to draw"):
        show.figure_of(block)


def test_graph_and_sparsity() -> None:
    from linkwright.show.sparsity_figure import sparsity_pattern
    from linkwright.show.structure_graph import graph_node_places

    robot = lw.gallery("quadruped")
    spots = graph_node_places(robot)
    assert set(spots) == {"ground", *robot.bodies}
    assert len(set(spots.values())) == len(spots)
    M = sparsity_pattern(lw.gallery("quadruped"))
    assert (M == M.T).all()
    assert not M[6:9, 9:].any()  # legs do not know each other
    figure = show.graph(lw.gallery("four-bar"))
    words = {text.get_text() for text in figure.axes[0].texts}
    assert {"crank", "coupler", "rocker", "pin\nrevolute"} <= words
    assert show.sparsity(lw.gallery("elbow")).axes[0].get_title() == "mass matrix: 4 of 4 (100%)"


def test_the_graph_of_many_branches_is_an_outline() -> None:
    """Of the Stewart platform: every body below its parent, a lane for every loop, no word on
    another; the name of a loop stands at its rod, not at the platform that has six."""
    from linkwright.show.graph_outline import graph_outline_rows

    robot = lw.gallery("stewart")
    rows = graph_outline_rows(robot)
    assert {row.name for row in rows} == {"ground", *robot.bodies}
    assert all(rows[row.parent].depth == row.depth - 1 for row in rows[1:])
    assert [row.name for row in rows if row.loops] == [f"rod{k}" for k in range(1, 7)]
    axes = show.graph(robot).axes[0]
    axes.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
    assert max(box.x1 for box in boxes) < axes.figure.bbox.x1
    assert sum(line.get_linestyle() == "--" for line in axes.lines) == 6


def test_no_letter_is_smaller_than_seven_points() -> None:
    run, bar = runs.elbow(), lw.gallery("four-bar")
    for figure in (
        show.figure_of(bar, names=True, dimensions=True), show.graph(bar), show.sparsity(bar),
        show.graph(lw.gallery("quadruped")), show.free_body_diagrams(bar), show.velocity_polygon(bar),
        show.force_polygons(bar), run.plot("q", "energy"), run.cyclograph(), show.phase(run),
    ):  # fmt: skip
        found = [t for t in figure.findobj(lambda a: hasattr(a, "get_fontsize")) if t.get_text()]
        assert found
        assert min(text.get_fontsize() for text in found) >= 7


def test_signs_of_joints_lie_over_their_links_and_mass_centres_over_frames() -> None:
    """The weld between two arms is seen, whichever link is nearer to the eye."""
    from matplotlib.colors import to_hex
    from matplotlib.patches import Polygon, Wedge

    axes = show.figure_of(lw.gallery("two-arms")).axes[0]
    signs = [p for p in axes.findobj(Polygon) if to_hex(p.get_edgecolor()).upper() == "#D55E00"]
    (weld,) = signs
    middle = weld.get_xy()[:-1].mean(axis=0)
    ends = [
        line for line in axes.get_lines()
        if line.get_linewidth() > 2 and len(line.get_xydata()) > 1
        and np.linalg.norm(line.get_xydata() - middle, axis=1).min() < 0.02
    ]  # fmt: skip
    assert len(ends) == 4  # two links, each with its white rim
    assert weld.get_zorder() > max(line.get_zorder() for line in ends)
    frames = [line.get_zorder() for line in axes.get_lines() if line.get_marker() == "."]
    assert max(frames) < min(wedge.get_zorder() for wedge in axes.findobj(Wedge))


@pytest.mark.parametrize("view", [(-60.0, 22.0), (-30.0, 70.0), (200.0, 5.0)])
def test_scale_and_directions_stand_where_nothing_is_drawn(view: tuple[float, float]) -> None:
    """Also where a mechanism fills the corners of the paper."""
    from linkwright.show.figure_style import house_figure_style, new_figure
    from linkwright.show.glyph_brush import GlyphBrush
    from linkwright.show.paper_transform import PaperTransform, drawn_label_obstacles, text_corners
    from linkwright.show.scaled_axes import finish_axes

    scene = mechanism_scene(lw.gallery("stewart"))
    seen = scene.view(view)
    with house_figure_style():
        axes = new_figure(85, 80).add_subplot()
        axes.set_aspect("equal")
        axes.set(xlim=(-1.0, 1.0), ylim=(-0.3, 1.5))
        GlyphBrush(axes, scene, scene.link_placements(scene.home), seen).draw_glyphs(
            [*scene.link_glyphs, *scene.joint_glyphs]
        )
        finish_axes(axes, seen)
        paper, texts = PaperTransform.after_layout(axes), list(axes.texts)
        boxes = [text_corners(paper, text) for text in texts if text.get_text()]
        for artist in (*texts, axes.get_lines()[-1]):
            artist.remove()
        obstacles = drawn_label_obstacles(paper)
    assert len(boxes) >= 3
    for word in boxes:
        corners = word.min(axis=0)[None], word.max(axis=0)[None]
        assert obstacles.weight_under_boxes(*corners)[0] == 0


def test_rays_of_a_polygon_do_not_hide_images_of_links() -> None:
    """The image of a link that turns about a fixed point lies on a ray."""
    axes = show.velocity_polygon(lw.gallery("elbow"), [0.3, 0.4], [1.0, 2.0]).axes[0]
    images = [line for line in axes.get_lines() if str(line.get_label()).startswith("link")]
    rays = [text for text in axes.texts if getattr(text, "arrow_patch", None) is not None]
    assert images
    assert rays
    assert min(i.get_zorder() for i in images) > max(r.get_zorder() for r in rays)


def test_a_load_along_a_path_is_drawn_along_it() -> None:
    hoist = """
name = "hoist"
bodies.load = { mass = 1, inertia = [0.02, 0.02, 0.02] }
joints.y = { type = "prismatic", child = "load", axis = [0, 1, 0] }
frames.pulley = { body = "ground", origin = [0, 1, 0] }
frames.winch = { body = "ground", origin = [0.8, 0.4, 0] }
lengths.rope.path = ["load", "pulley", "winch"]
forces.pull = { type = "length", along = "rope", force = "12 N" }
"""
    drawn = [
        line.get_xydata().round(6).tolist()
        for line in lw.show.figure_of(lw.load(hoist), [0.2], view="xy").axes[0].lines
    ]
    assert [[0.0, 0.2], [0.0, 1.0]] in drawn
    assert [[0.0, 1.0], [0.8, 0.4]] in drawn


@pytest.mark.parametrize("swapped", [False, True])
def test_a_slide_that_closes_a_loop_is_drawn_where_its_block_is(swapped: bool) -> None:
    """Its box stood at the start of the slide, without rail, and with a pivot for a track."""
    from linkwright.show.ground_glyphs import build_ground_glyphs

    scene = mechanism_scene(offset_press(swapped))
    poses = scene.link_placements([np.pi / 2, np.arcsin(-0.07 / 0.3) - np.pi / 2, 0.0])
    block = np.array([np.sqrt(0.3**2 - 0.07**2), 0.03, 0])
    (box,) = [shape for shape in scene.joint_glyphs if shape.closes_loop]
    placed = box.points @ poses[box.link, :, :3].T + poses[box.link, :, 3]
    np.testing.assert_allclose(placed.mean(axis=0), block, atol=1e-12)
    (rail,) = [tie for tie in scene.connector_glyphs if tie.kind == "rail"]
    ends = [
        poses[k, :, :3] @ p + poses[k, :, 3] for k, p in zip(rail.links, rail.points, strict=True)
    ]
    np.testing.assert_allclose(ends, [[0, 0.03, 0], block], atol=1e-12)
    ground = build_ground_glyphs(scene, poses[None], scene.view())
    (track,) = [shape for shape in ground if shape.kind == "edge" and shape.points[0, 1] > 0]
    assert np.ptp(track.points[:, 1]) < 1e-12
    assert track.points[:, 0].min() < 0
    assert track.points[:, 0].max() > block[0]
    assert sum(shape.kind == "base" for shape in ground) == 1
