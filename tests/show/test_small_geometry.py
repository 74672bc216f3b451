"""Geometry of figures: who shares a label, what crosses, where glyphs and edges lie."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import linkwright as lw
from linkwright import show
from linkwright.show.arrows import _panel_size
from linkwright.show.axes_labels import group_labels
from linkwright.show.figure_style import with_figure_style
from linkwright.show.glyph_brush import DASHPOT_PATHS, SPRING_PATHS
from linkwright.show.ground_glyphs import _pivot_glyphs
from linkwright.show.histories import history_panels
from linkwright.show.history_plots import flatten_rounding_errors_on_axis, panel_height
from linkwright.show.key_frames import round_for_film_page
from linkwright.show.label_placement.free_positions import nearest_free_label_shift
from linkwright.show.label_placement.label_candidates import label_leaders_cross
from linkwright.show.mechanism_scene import mechanism_scene
from linkwright.show.paper_transform import PaperTransform, drawn_label_obstacles
from linkwright.show.scaled_axes import (
    FreePictureCorners,
    _draw_scale_bar,
    axes_meters_per_mm,
    round_scale_bar_length,
)
from linkwright.show.structure_graph import _bent_edge_path
from linkwright.show.view_direction import View

FRONT = View(np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), True)


def test_points_that_lie_together_share_a_label() -> None:
    spots = [np.array(p) for p in ((10.0, 0.0), (10.1, 0.0), (-10.0, 0.0), (-10.1, 0.0))]
    labels = group_labels(["a", "b", "c", "d"], spots, 1.0)
    assert [label.text for label in labels] == ["a, b", "c, d"]


def test_lines_cross_where_each_has_the_ends_of_the_other_on_both_sides() -> None:
    across = np.array([[0.0, 0.0], [4.0, 0.0]])
    lines = np.array([[[1, -1], [1, 1]], [[5, -1], [5, 1]], [[1, 1], [3, 2]], [[1, 0.5], [1, 1]]])
    assert label_leaders_cross(lines.astype(float), across).tolist() == [True, False, False, False]


def test_the_eye_sees_right_and_up() -> None:
    """x right and y up are seen from z."""
    assert FRONT.toward_eye.tolist() == [0.0, 0.0, 1.0]
    assert FRONT.depth(np.array([5.0, 6.0, 7.0])) == 7.0


def test_a_pivot_stands_on_a_level_line() -> None:
    base, edge, hatch = _pivot_glyphs(np.zeros(3), None, FRONT, 1.0)  # type: ignore[arg-type]
    foot = base.points[:, 1].min()
    assert np.unique(edge.points[:, 1]).tolist() == [foot]
    assert edge.points[:, 0].min() < base.points[:, 0].min()
    assert edge.points[:, 0].max() > base.points[:, 0].max()
    assert hatch.points[:, 1].max() == foot, "strokes hang below the line"


@pytest.mark.parametrize("paths", [DASHPOT_PATHS, SPRING_PATHS], ids=["dashpot", "spring"])
def test_signs_of_springs_and_dampers(paths: list[list[tuple[float, float]]]) -> None:
    """They reach from one point to the other, and to both sides alike."""
    points = np.array([p for path in paths for p in path])
    assert (points[:, 0].min(), points[:, 0].max()) == (0.0, 1.0)
    assert points[:, 1].sum() == pytest.approx(0.0)
    if paths is DASHPOT_PATHS:
        assert {(x, -y) for x, y in points.tolist()} == set(map(tuple, points.tolist()))


def test_edges_of_the_graph_bend_more_the_farther_they_reach() -> None:
    heights = [_bent_edge_path((0, 0), (d, 0))[:, 1].max() for d in (1, 2, 4)]
    assert heights == sorted(heights)
    assert heights[0] < heights[-1]
    path = _bent_edge_path((1, 2), (3, 2))
    np.testing.assert_allclose(path[[0, -1]], [[1, 2], [3, 2]])


@pytest.mark.parametrize(
    ("most", "length"), [(22.0, 20.0), (10.0, 10.0), (9.9, 5.0), (4.9, 2.0), (0.19, 0.1)]
)
def test_scale_bars_have_round_lengths(most: float, length: float) -> None:
    assert round_scale_bar_length(most) == pytest.approx(length)


def test_the_scale_bar_is_as_long_as_it_says_and_on_the_paper() -> None:
    axes = Figure((4, 3)).subplots()
    axes.set(xlim=(-1, 1), ylim=(-0.75, 0.75))
    unit = axes_meters_per_mm(axes)
    _draw_scale_bar(axes, FreePictureCorners(axes, unit))
    ends = np.asarray(axes.lines[0].get_xdata(), float)
    assert float(np.ptp(ends)) == pytest.approx(float(axes.texts[0].get_text().removesuffix(" m")))
    assert (np.abs(ends) < 1).all()
    assert axes.texts[0].get_position()[0] == pytest.approx(ends.mean())


def test_panels_of_forces_are_measured_in_millimetres() -> None:
    """Paper of 10 × 5 inches with two panels side by side: 127 mm each, less 2 mm."""
    left, right = Figure((10, 5)).subplots(1, 2)
    assert _panel_size(left)[0] == pytest.approx(127 - 2)
    assert _panel_size(left)[1] - _panel_size(Figure((10, 4)).subplots())[1] == pytest.approx(25.4)
    assert _panel_size(left).tolist() == _panel_size(right).tolist()


def test_rounding_errors_are_drawn_within_symmetric_limits() -> None:
    for scale, values, limits in (
        (0.0, 1e-15, (-1.0, 1.0)),
        (5.0, -1e-12, (-5.0, 5.0)),
        (5.0, 0.5, (0.0, 1.0)),
    ):
        axes = Figure().subplots()
        flatten_rounding_errors_on_axis(axes, np.array([values, 0.0, np.nan]), scale)
        assert axes.get_ylim() == limits


def test_panels_grow_with_the_rows_of_their_legends() -> None:
    """Names of 60 letters stand below each other."""
    heights = []
    for count in (1, 2, 5):
        names = [chr(97 + k) * 60 for k in range(count)]
        lines = tuple(show.HistoryLine(name, name, np.zeros(2)) for name in names)
        heights.append(with_figure_style(panel_height)(show.Panel("q", "rad", lines), 90.0))
    assert heights[0] == 38.0
    assert heights[2] - heights[0] == pytest.approx(4 * (heights[1] - heights[0]))
    assert heights[1] > heights[0]


def test_numbers_of_pages_have_no_negative_zero() -> None:
    rounded = round_for_film_page(np.array([-1e-9, -0.12345, 2.0]), 1e-3)
    assert str(rounded.tolist()) == "[0.0, -0.123, 2.0]"


def test_boxes_move_to_free_paper() -> None:
    figure = Figure(figsize=(4, 4))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.plot([0.2, 0.2], [0.0, 1.0], zorder=3)
    paper = PaperTransform.after_layout(axes)
    ink = drawn_label_obstacles(paper)
    size = paper.high - paper.low
    low = paper.low + [0.2, 0.5] * size - 5.0  # a box of 10 mm on the line
    shift = nearest_free_label_shift(ink, low, low + 10)
    before, after = (
        ink.weight_under_boxes((low + s)[None], (low + s + 10)[None])[0]
        for s in (np.zeros(2), shift)
    )
    assert before > 0
    assert after == 0
    assert ((low + shift >= paper.low) & (low + shift + 10 <= paper.high)).all()
    assert np.linalg.norm(shift) < 8.0, "the nearest such place"


def test_lines_of_bodies_are_named_by_them() -> None:
    arm = lw.Mechanism(
        name="arm", gravity=[0, -9.81, 0], bodies={"m_1": {"mass": 1, "center": [1, 0, 0]}},
        joints={"q": {"type": "revolute", "child": "m_1", "axis": [0, 0, 1]}},
    )  # fmt: skip
    run = lw.simulate(arm, 0.1, samples=3)
    bodies = ["m_1"]
    panels = history_panels(run, "centers")
    assert [[line.name for line in panel.lines] for panel in panels] == [bodies] * 2
    assert history_panels(run, "centers", only=bodies[:1])[0].lines[0].name == bodies[0]
    assert len(history_panels(run, "momenta")) == 1


def test_polygons_show_the_pole_where_everything_moves_one_way() -> None:
    cart = lw.Mechanism(
        name="cart", gravity=[0, -9.81, 0], bodies={"b": {"mass": 1, "center": [1, 0, 0]}},
        joints={"x": {"type": "prismatic", "child": "b", "axis": [1, 1, 0]}},
    )  # fmt: skip
    (axes,) = show.velocity_polygon(cart, [0.0], [6.0]).axes
    for low, high in (axes.get_xlim(), axes.get_ylim()):
        assert low < 0 < 6 / np.sqrt(2) < high


@pytest.mark.parametrize("rate", [3.0, -3.0])
def test_polygons_show_the_pole_and_all_tips(rate: float) -> None:
    """A crank at 45° moves to one side only: the pole at (0, 0) is shown all the same."""
    crank = lw.Mechanism(
        name="crank", bodies={"b": {"mass": 1, "center": [1, 0, 0]}},
        joints={"q": {"type": "revolute", "child": "b", "axis": [0, 0, 1]}},

    )  # fmt: skip
    (axes,) = show.velocity_polygon(crank, [np.pi / 4], [rate]).axes
    tip = rate * np.array([-1, 1]) / np.sqrt(2)
    for low, high, x in zip(*np.transpose([axes.get_xlim(), axes.get_ylim()]), tip, strict=True):
        assert low < min(0.0, x)
        assert high > max(0.0, x)
        assert (low + high) / 2 == pytest.approx(x / 2, rel=0.6)


def test_the_foot_of_a_contact_lies_on_its_plane() -> None:
    ball = lw.Mechanism(
        name="ball", bodies={"b": {"mass": 1, "inertia": [1, 1, 1]}},
        joints={"free": {"type": "free", "child": "b"}},
        frames={"floor": {"body": "ground", "origin": [0, 0, "0.3"]}},
        contacts={"touch": {"point": "b", "plane": "floor", "radius": "0.1"}},
    )  # fmt: skip
    scene = mechanism_scene(ball)
    (touch,) = scene.mechanism.contacts.values()
    poses = scene.link_placements(np.array([1.0, 2.0, 5.0, 1, 0, 0, 0]))
    (foot,) = scene._contact_foot(poses, touch)
    np.testing.assert_allclose(foot, [1.0, 2.0, 0.3], atol=1e-12)
