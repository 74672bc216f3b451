"""Graphs and sparsity patterns of real robots can be read: no word lies on another."""

from __future__ import annotations

from typing import Any

import pytest

import linkwright as lw
from linkwright import show

from ..robots import path_of


def words_of(figure: Any) -> list[Any]:
    """Boxes of all words of a figure, those of names with the frames around them."""
    figure.draw_without_rendering()
    (axes,) = figure.axes
    ticks = [*axes.get_xticklabels(), *axes.get_yticklabels()] if axes.axison else []
    texts = [*axes.texts, axes.title, *ticks]
    found = []
    for text in (one for one in texts if one.get_text() and one.get_visible()):
        patch = text.get_bbox_patch()
        framed = patch is not None and patch.get_edgecolor()[3] > 0
        found.append((patch if framed else text).get_window_extent())
    return found


def assert_legible(figure: Any) -> None:
    boxes = words_of(figure)
    for k, one in enumerate(boxes):
        assert not [other for other in boxes[:k] if one.overlaps(other)]
        assert figure.bbox.x0 <= one.x0
        assert one.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= one.y0
        assert one.y1 <= figure.bbox.y1


@pytest.mark.parametrize(
    "robot", ["panda.urdf", pytest.param("talos_full_v2.urdf", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("width", [None, 85.0, 180.0])
def test_no_name_in_the_graph_of_a_robot_lies_on_another(robot: str, width: float | None) -> None:
    assert_legible(show.graph(lw.load(path_of(robot)), width=width))


@pytest.mark.parametrize(
    "name", ["chain-6", "four-bar", "stewart", "quadruped", "3-rrr", "two-arms"]
)
def test_no_name_in_a_graph_lies_on_another(name: str) -> None:
    assert_legible(show.graph(lw.gallery(name)))


@pytest.mark.parametrize("width", [None, 60.0, 85.0, 180.0])
def test_no_name_beside_a_large_sparsity_pattern_lies_on_another(width: float | None) -> None:
    figure = show.sparsity(lw.load(path_of("talos_full_v2.urdf")), width=width)
    assert_legible(figure)
    (axes,) = figure.axes
    if width is None:
        names = [label.get_text() for label in axes.get_yticklabels()]
        assert len(names) == 32
        assert min(label.get_fontsize() for label in axes.get_yticklabels()) >= 7


def test_small_sparsity_patterns_are_legible() -> None:
    for figure in (
        show.sparsity(lw.gallery("elbow")),
        show.sparsity(lw.gallery("stewart"), "constraint_jacobian"),
    ):
        assert_legible(figure)
        cell = figure.axes[0].get_window_extent()
        rows, columns = figure.axes[0].images[0].get_array().shape
        assert cell.width / columns == pytest.approx(cell.height / rows), "cells are square"
