"""Label placement on plain numbers: no overlap where there is room, near the anchors, repeatable."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwright.show.label_placement import (
    LABEL_PLACEMENT_OPTIONS,
    LabelBox,
    LabelObstacleGrid,
    LabelPosition,
    find_label_positions,
    label_position_along_line,
    nearest_free_label_shift,
)
from linkwright.show.label_placement.label_candidates import (
    LabelCandidates,
    label_leaders_cross,
)

PAPER = np.array([120.0, 80.0])
SIZE = np.array([9.0, 3.0])


def paper_with_glyphs(*boxes: LabelBox) -> LabelObstacleGrid:
    """Paper on which only the glyphs of labels are drawn: discs about their anchors."""
    paper, angles = LabelObstacleGrid(np.zeros(2), PAPER), np.linspace(0, 2 * np.pi, 25)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    for box in boxes:
        for anchor in box.anchors:
            for radius in np.linspace(0, box.glyph_radius, 4):
                paper.add_path(anchor + radius * circle)
    return paper


def label_at(*anchors: tuple[float, float], radius: float = 1.0) -> LabelBox:
    return LabelBox(SIZE, np.array(anchors), radius)


def corners_of(box: LabelBox, position: LabelPosition) -> tuple[np.ndarray, np.ndarray]:
    return position.center - box.size / 2, position.center + box.size / 2


def overlap(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> bool:
    return bool((np.minimum(one[1], other[1]) > np.maximum(one[0], other[0])).all())


def distance_to_anchor(box: LabelBox, position: LabelPosition) -> float:
    low, high = corners_of(box, position)
    return min(float(np.linalg.norm(p - np.clip(p, low, high))) for p in box.anchors)


def test_a_label_alone_stands_beside_its_glyph() -> None:
    box = label_at((60.0, 40.0))
    (position,) = find_label_positions([box], paper_with_glyphs(box))
    assert position.leader is None
    assert (
        0.5 < distance_to_anchor(box, position) < 1.0 + LABEL_PLACEMENT_OPTIONS.distances[0] + 1e-9
    )


@pytest.mark.parametrize("anchor", [(0.0, 0.0), (120.0, 80.0), (0.0, 80.0), (60.0, 0.0)])
def test_labels_of_anchors_on_the_edge_stay_on_the_paper(anchor: tuple[float, float]) -> None:
    box = label_at(anchor)
    low, high = corners_of(box, find_label_positions([box], paper_with_glyphs(box))[0])
    assert (low >= 0).all()
    assert (high <= PAPER).all()


def test_labels_keep_off_obstacles() -> None:
    """Lines through the anchor, and a text to its right: the label avoids both."""
    box = label_at((60.0, 40.0))
    paper = paper_with_glyphs(box)
    paper.add_path(np.array([[0.0, 40.0], [120.0, 40.0]]))
    paper.add_path(np.array([[60.0, 0.0], [60.0, 80.0]]))
    text = np.array([[61.0, 41.0], [75.0, 41.0], [75.0, 48.0], [61.0, 48.0]])
    paper.add_text_box(text)
    low, high = corners_of(box, find_label_positions([box], paper)[0])
    assert paper.weight_under_boxes(low[None], high[None])[0] == 0
    assert not overlap((low, high), (text[0], text[2]))


def test_a_label_without_room_at_its_anchor_has_a_leader_to_the_rim_of_its_glyph() -> None:
    paper, box = paper_with_glyphs(), label_at((60.0, 40.0), radius=1.5)
    paper.add_text_box(np.array([[50.0, 32.0], [70.0, 32.0], [70.0, 48.0], [50.0, 48.0]]))
    (position,) = find_label_positions([box], paper)
    assert position.leader is not None
    start, end = position.leader
    low, high = corners_of(box, position)
    assert (start >= low - 1e-9).all()
    assert (start <= high + 1e-9).all()
    assert np.linalg.norm(end - box.anchors[0]) == pytest.approx(1.5)
    assert paper.weight_under_boxes(low[None], high[None])[0] == 0


def test_a_crowd_of_anchors_gets_leaders_that_do_not_cross() -> None:
    boxes = [label_at((56.0 + 2.5 * k, 40.0 + (k % 2)), radius=0.8) for k in range(5)]
    found = find_label_positions(boxes, paper_with_glyphs(*boxes))
    assert any(position.leader is not None for position in found)
    lines = [position.leader for position in found if position.leader is not None]
    assert not any(label_leaders_cross(a[None], b)[0] for a, b in combinations(lines, 2))


def test_leaders_cross_only_where_both_segments_meet() -> None:
    diagonal = np.array([[[0.0, 0.0], [2.0, 2.0]]])
    assert label_leaders_cross(diagonal, np.array([[0.0, 2.0], [2.0, 0.0]]))[0]
    assert not label_leaders_cross(diagonal, np.array([[0.0, 2.0], [0.9, 1.1]]))[0]
    assert not label_leaders_cross(diagonal, np.array([[0.0, 1.0], [2.0, 3.0]]))[0]


@pytest.mark.parametrize("covered", [True, False])
def test_leaders_cost_by_their_length_over_what_is_drawn(covered: bool) -> None:
    """Text all over the paper, or none: then a leader costs the same wherever it leads."""
    paper, box = paper_with_glyphs(), label_at((60.0, 40.0))
    if covered:
        paper.add_text_box(np.array([[0.0, 0.0], [120.0, 0.0], [120.0, 80.0], [0.0, 80.0]]))
    found = LabelCandidates([box], 0, paper)
    costs = (found.own_costs - found.coverage_costs)[found.needs_leader]
    costs -= LABEL_PLACEMENT_OPTIONS.leader_cost
    lengths = np.linalg.norm(found.leaders[:, 1] - found.leaders[:, 0], axis=1)[found.needs_leader]
    assert lengths.max() > 1.5 * lengths.min()
    per_length = costs / lengths
    assert per_length == pytest.approx(np.full(len(lengths), per_length[0] if covered else 0.0))
    assert (per_length[0] > 1e-9) == covered


def test_a_label_of_several_anchors_stands_at_one_of_them() -> None:
    box = label_at((60.0, 40.0), (62.0, 40.0))
    (position,) = find_label_positions([box], paper_with_glyphs(box))
    assert position.leader is None
    assert (
        distance_to_anchor(box, position)
        < 1.0 + LABEL_PLACEMENT_OPTIONS.max_distance_without_leader
    )


def test_paper_that_is_smaller_than_a_label_still_gets_one() -> None:
    paper = LabelObstacleGrid(np.zeros(2), np.array([5.0, 2.0]))
    (position,) = find_label_positions([label_at((2.0, 1.0))], paper)
    assert np.isfinite(position.center).all()


@st.composite
def scattered_anchors(draw: st.DrawFn) -> np.ndarray:
    """Up to ten anchors with room for a label at each: one in a cell of a 6 × 5 grid of the paper."""
    cells = draw(st.lists(st.integers(0, 29), min_size=1, max_size=10, unique=True))
    offsets = draw(st.lists(st.floats(0.2, 0.8), min_size=2 * len(cells), max_size=2 * len(cells)))
    corner = np.array([[k % 6, k // 6] for k in cells])
    return (corner + np.array(offsets).reshape(-1, 2)) * PAPER / [6, 5]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(anchors=scattered_anchors(), width=st.floats(3.0, 14.0), radius=st.floats(0.0, 1.5))
def test_where_there_is_room_no_two_labels_overlap(
    anchors: np.ndarray, width: float, radius: float
) -> None:
    """On the paper, apart, near the anchor or joined to it by a leader; the same every time."""
    boxes = [LabelBox(np.array([width, 3.0]), anchor[None], radius) for anchor in anchors]
    found = find_label_positions(boxes, paper_with_glyphs(*boxes))
    placed = [corners_of(box, position) for box, position in zip(boxes, found, strict=True)]
    assert not any(overlap(one, other) for one, other in combinations(placed, 2))
    for box, position, (low, high) in zip(boxes, found, placed, strict=True):
        assert (low >= 0).all()
        assert (high <= PAPER).all()
        near = radius + LABEL_PLACEMENT_OPTIONS.max_distance_without_leader
        distance = distance_to_anchor(box, position)
        assert distance <= near or position.leader is not None
        assert distance <= radius + max(LABEL_PLACEMENT_OPTIONS.distances)
    again = find_label_positions(boxes, paper_with_glyphs(*boxes))
    assert all((a.center == b.center).all() for a, b in zip(found, again, strict=True))


def test_weights_of_paths_and_texts_are_counted_by_cells() -> None:
    paper = paper_with_glyphs()
    paper.add_path(np.array([[10.1, 10.1], [30.1, 10.1]]))
    assert paper.weight_under_boxes(np.array([[0.0, 20.0]]), np.array([[120.0, 80.0]]))[0] == 0
    whole = paper.weight_under_boxes(np.zeros((1, 2)), PAPER[None])[0]
    assert whole == pytest.approx(20.0 / paper.cell_size, abs=2)
    assert paper.weight_at_points(np.array([[[20.0, 10.1], [20.0, 20.0]]]))[0] == 1
    paper.add_text_box(np.array([[15.0, 9.0], [25.0, 9.0], [25.0, 11.0], [15.0, 11.0]]))
    assert paper.weight_at_points(np.array([[[20.0, 10.1], [20.0, 20.0]]]))[0] == 6


def test_points_are_on_the_paper_or_not() -> None:
    paper = paper_with_glyphs()
    assert paper.contains_points(np.array([[1.0, 1.0], [119.0, 79.0]]))
    assert not paper.contains_points(np.array([[1.0, 1.0], [121.0, 79.0]]))
    assert not paper.contains_points(np.array([[1.0, -1.0]]))


def test_a_free_box_is_not_shifted_and_a_covered_one_moves_as_little_as_it_must() -> None:
    paper, low, high = paper_with_glyphs(), np.array([50.0, 30.0]), np.array([60.0, 34.0])
    assert (nearest_free_label_shift(paper, low, high) == 0).all()
    paper.add_text_box(np.array([[40.0, 20.0], [52.5, 20.0], [52.5, 60.0], [40.0, 60.0]]))
    assert nearest_free_label_shift(paper, low, high) == pytest.approx([3.0, 0.0])


@pytest.mark.parametrize("angle", [0.0, 0.6, 1.57, 2.5, -2.0, 3.1])
def test_lengths_stand_along_their_line_and_are_never_upside_down(angle: float) -> None:
    middle, along = PAPER / 2, 15 * np.array([np.cos(angle), np.sin(angle)])
    ends = np.array([middle - along, middle + along])
    found = label_position_along_line(paper_with_glyphs(), ends, None, SIZE, 1.0)
    assert found is not None
    assert abs(found.angle) <= 1.58
    assert abs(np.sin(found.angle - angle)) < 1e-9
    normal = np.array([-np.sin(angle), np.cos(angle)])
    assert abs((found.center - middle) @ normal) == pytest.approx(1.0 + SIZE[1] / 2)


def test_lengths_avoid_the_side_that_is_taken_and_short_lines() -> None:
    ends = np.array([[40.0, 40.0], [80.0, 40.0]])
    above, below = np.array([60.0, 50.0]), np.array([60.0, 30.0])
    for taken, sign in ((None, 1), (above, -1), (below, 1)):
        found = label_position_along_line(paper_with_glyphs(), ends, taken, SIZE, 1.0)
        assert found is not None
        assert np.sign(found.center[1] - 40.0) == sign
    assert label_position_along_line(paper_with_glyphs(), ends[:, :] * 0.1, None, SIZE, 1.0) is None
    full = paper_with_glyphs()
    full.add_text_box(np.array([[30.0, 30.0], [90.0, 30.0], [90.0, 50.0], [30.0, 50.0]]))
    assert label_position_along_line(full, ends, None, SIZE, 1.0) is None


def test_placement_draws_nothing_itself() -> None:
    """The package needs NumPy and no matplotlib."""
    code = (
        "import sys, linkwright.show.label_placement as placement;"
        "names = [n for n in sys.modules if n.startswith(placement.__name__)];"
        "texts = [open(sys.modules[n].__file__, encoding='utf-8').read() for n in names];"
        "assert len(names) > 3 and not any('matplotlib' in text for text in texts);"
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
