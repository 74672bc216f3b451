"""Words in pictures, as geometry: none on another, all on the paper, each at its own joint."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright import show
from linkwright.kinematics.assembly import assemble
from linkwright.mechanism import mechanism_names
from linkwright.mechanism.mechanism_units import coordinate_units
from linkwright.show.axes_labels import LABEL_TAG, LEADER_TAG, group_labels, wrap_label_names
from linkwright.show.label_text import symbol_label
from linkwright.show.length_dimensions import DIMENSION_TAG
from linkwright.show.mechanism_scene import mechanism_scene
from linkwright.show.paper_transform import PaperTransform, text_corners


def configuration(mechanism: lw.Mechanism, is_random: bool) -> np.ndarray:
    """Home, or one that is random, within the constraints if there are any."""
    home = mechanism_scene(mechanism).home
    if not is_random:
        return home
    free = np.array([unit != "1" for unit in coordinate_units(mechanism)])
    q = home + np.random.default_rng(5).uniform(-0.9, 0.9, len(home)) * free
    if not mechanism_names(mechanism).constraints:
        return q
    return assemble(
        mechanism, dict(zip(mechanism_names(mechanism).q, 0.7 * home + 0.3 * q, strict=True))
    )


@cache
def drawn(name: str, is_random: bool) -> tuple[Any, np.ndarray, dict[str, np.ndarray]]:
    """Axes with all words, the sign's size, and where joints and frames stand on the paper."""
    mechanism = lw.gallery(name)
    scene, q = mechanism_scene(mechanism), configuration(mechanism, is_random)
    axes = show.figure_of(mechanism, q, names=True, dimensions=True).axes[0]
    poses, view, paper = scene.link_placements(q), scene.view(), PaperTransform.after_layout(axes)
    marks = [*scene.joint_glyphs, *(s for s in scene.frame_glyphs if s.kind == "dot")]
    spots = {s.name: view(s.points @ poses[s.link, :, :3].T + poses[s.link, :, 3]).mean(axis=0)
             for s in marks}  # fmt: skip
    return (
        axes,
        paper.length_mm(scene.glyph_radius),
        {k: paper(spot)[0] for k, spot in spots.items()},
    )


def words(axes: Any, mark: str) -> dict[str, Any]:
    return {t.get_label(): t for t in axes.texts if t.get_label().startswith(mark)}


def apart(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether a side of either box separates them."""
    for box in (one, other):
        for side in (box[1] - box[0], box[3] - box[0]):
            a, b = one @ side, other @ side
            if a.max() <= b.min() or b.max() <= a.min():
                return True
    return False


def gap(point: np.ndarray, box: np.ndarray) -> float:
    return float(
        np.linalg.norm(
            np.maximum(box.min(axis=0) - point, 0) + np.maximum(point - box.max(axis=0), 0)
        )
    )


EVERY = [(name, is_random) for name in lw.gallery() for is_random in (False, True)]


@pytest.mark.parametrize(("name", "is_random"), EVERY)
def test_no_word_is_on_another_or_off_the_paper(name: str, is_random: bool) -> None:
    axes, _, spots = drawn(name, is_random)
    paper = PaperTransform.after_layout(axes)
    boxes = [text_corners(paper, t) for t in axes.texts if t.get_text()]
    assert len(boxes) >= (1 if spots else 0)
    for one, other in combinations(boxes, 2):
        assert apart(one, other)
    lettered = [t for t in axes.texts if t.get_label().startswith((LABEL_TAG, DIMENSION_TAG))]
    for text in lettered:
        corners = text_corners(paper, text)
        assert (corners >= paper.low).all()
        assert (corners <= paper.high).all()


@pytest.mark.parametrize(("name", "is_random"), EVERY)
def test_every_name_stands_at_its_joint(name: str, is_random: bool) -> None:
    """Each joint is in one label, whose line ends at it, or to which no other joint is as near."""
    axes, sign, spots = drawn(name, is_random)
    paper = PaperTransform.after_layout(axes)
    lines = {line.get_label(): line for line in axes.lines}
    named = {symbol_label(joint): joint for joint in spots}
    seen: list[str] = []
    for label, text in words(axes, LABEL_TAG).items():
        own = [
            named[word]
            for word in text.get_text().replace(",\n", ", ").split(", ")
            if word in named
        ]
        if not own:
            continue
        seen += own
        box = text_corners(paper, text)
        leader = lines.get(label.replace(LABEL_TAG, LEADER_TAG))
        if leader is not None:
            start, end = paper(leader.get_xydata())
            assert gap(start, box) < 0.3
            assert min(np.linalg.norm(end - spots[joint]) for joint in own) < 1.01 * sign + 1e-6
        else:
            here = min(gap(spots[joint], box) for joint in own)
            others = [gap(spot, box) for joint, spot in spots.items() if joint not in own]
            assert here < sign + 2.5
            assert here < min(others, default=np.inf)
    assert sorted(seen) == sorted(spots)


@pytest.mark.parametrize("draw", [show.free_body_diagrams, show.force_polygons])
def test_words_of_forces_do_not_lie_on_each_other(draw: Any) -> None:
    figure = draw(lw.gallery("triple-pendulum"), [-0.5, -0.9, -1.5], [-1.0, -2.0, -3.0])
    for axes in figure.axes:
        paper = PaperTransform.after_layout(axes)
        boxes = [text_corners(paper, text) for text in axes.texts if text.get_text()]
        assert len(boxes) >= 4
        assert all(apart(one, other) for one, other in combinations(boxes, 2))


def test_joints_that_coincide_share_a_label() -> None:
    """The wrist of the six-axis arm at home; and three points in a row are not all one."""
    labels = [text.get_text() for text in words(drawn("six-axis", False)[0], LABEL_TAG).values()]
    assert "$q_{4}$, $q_{5}$, $q_{6}$" in labels
    row = [np.array([x, 0.0]) for x in (0.0, 1.5, 3.0)]
    assert [label.text for label in group_labels("abc", row, 1.0)] == ["a, b", "c"]


def test_long_lists_are_broken_in_lines() -> None:
    assert (
        wrap_label_names(["shoulder_pan", "shoulder_lift", "elbow"])
        == "shoulder_pan,\nshoulder_lift,\nelbow"
    )
    assert wrap_label_names([f"$q_{{{k}}}$" for k in range(3)]) == "$q_{0}$, $q_{1}$, $q_{2}$"


def test_every_length_of_the_four_bar_is_written() -> None:
    axes = drawn("four-bar", False)[0]
    written = [text.get_text() for text in axes.texts if text.get_label() == DIMENSION_TAG]
    assert sorted(written) == ["1 m", "2.5 m", "3 m"]


@pytest.mark.parametrize("width", [25.0, 600.0])
def test_paper_of_any_size(width: float) -> None:
    """On what is too small for words they are still written, and the picture is not turned."""
    for name in ("four-bar", "six-axis"):
        figure = show.figure_of(lw.gallery(name), names=True, dimensions=True, width=width)
        low, high = figure.axes[0].get_xlim()
        assert low < high
        assert words(figure.axes[0], LABEL_TAG)


def test_words_are_the_same_every_time() -> None:
    one, other = (show.svg(show.figure_of(lw.gallery("quadruped"), names=True)) for _ in range(2))
    assert one == other
    assert ">lf_knee</text>" in one, "text stays text"
