"""Parts of pages: columns of marks, starts of motions, room for labels."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.report.homework_page import typeset_checked_equation
from linkwright.report.motion_starts import PageMotionStart, check_page_motion_start
from linkwright.show.figure_style import axis_label_width
from tests.check.homework_texts import SOLUTION, marks


def test_marks_have_columns_for_what_occurs(tmp_path: Path) -> None:
    right = "d22 = m2*lc2^2 + I2\n"
    found = marks(tmp_path, {"a.txt": right})
    heads = [word for word in ("Equations", "Right", "Wrong") if f">{word}<" in found.to_html()]
    assert heads == ["Equations", "Right", "Wrong"]
    for word in ("Undecided", "Unreadable", "Present", "Missing"):
        assert f">{word}<" not in found.to_html()
    with_solution = marks(tmp_path, {"a.txt": right}, SOLUTION).to_html()
    assert ">Present<" in with_solution
    assert ">Missing<" in with_solution


def test_rates_of_coordinates_have_dots(tmp_path: Path) -> None:
    """By the mechanism's names, and by those of the texts; d of other names is a letter."""
    homework = marks(tmp_path, {"a.txt": "d22 = m2*lc2^2 + I2\n"})
    text = typeset_checked_equation(
        "phi1 = ddq1 + dq2 + dalpha + dz", homework.coordinates, {"alpha": "q2"}
    )
    over = re.findall(r"<mover><mi>(\w+)</mi><mo>(\.+)</mo></mover>", text)
    assert over == [("q", ".."), ("q", "."), ("α", ".")]
    assert "<mi>dz</mi>" in text


def test_a_motion_cannot_begin_with_an_infinite_effort() -> None:
    elbow = lw.gallery("elbow")
    check_page_motion_start(elbow, PageMotionStart(q0={"q1": 0.5}, efforts={"q1": "1/q1"}))
    with pytest.raises(LinkwrightError, match="'q1' is not a finite number at the start"):
        check_page_motion_start(elbow, PageMotionStart(q0={"q1": 0.0}, efforts={"q1": "1/q1"}))


def test_room_for_labels_grows_with_them() -> None:
    """Both rims, and the labels: 100 points of letters take more than those of 10."""
    widths = []
    for size in (10, 100):
        axes = Figure().subplots()
        axes.set_ylabel("y", fontsize=size)
        widths.append(axis_label_width([axes]))
    assert 0 < widths[0] < widths[1]
    assert widths[1] - widths[0] == pytest.approx(90 / 72 * 25.4, rel=0.4)
