"""Ranges, bearing forces and modes on the page; the lecture."""

from __future__ import annotations

import re

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.report import lecture_page
from linkwright.report.finding_sections import bearings_section, modes_section, ranges_section
from linkwright.report.page_findings import (
    find_page_bearings,
    find_page_modes,
    find_page_ranges,
)
from linkwright.report.rendering import typeset_page_law
from linkwright.report.shown_motion import LeftOutPagePart
from tests.commands import run

HOSTILE = "<script>alert('x')</script>"


def test_ranges_of_a_crank_rocker() -> None:
    """The rocker's extreme angles by the law of cosines: coupler and crank in line."""
    found = find_page_ranges(lw.gallery("four-bar"))
    l1, l2, l3, l4 = 1.0, 3.0, 2.5, 3.5
    ends = [
        np.pi - np.arccos((l4**2 + l3**2 - (l2 + s * l1) ** 2) / (2 * l4 * l3)) for s in (-1, 1)
    ]
    text = f"{np.degrees(min(ends)):.4g}° … {np.degrees(max(ends)):.4g}°"
    assert {name: moved for name, _, moved in found.rows}["theta3"] == text
    assert {name: moved for name, _, moved in found.rows}["theta1"] == "full turns"
    assert any(line.startswith("dead centre of theta3") for line in found.sentences)
    assert "<svg" in ranges_section(found, "four-bar")


def test_ranges_of_an_arm_are_its_limits_and_singular_positions() -> None:
    found = find_page_ranges(lw.gallery("six-axis"))
    assert found.rows[1] == ("q2", "-90° … 135°", "")
    text = ranges_section(found, "six-axis")
    assert "q3 = 0°" in text
    assert "q5 = 0°" in text
    assert "range of the motion" not in text


def test_bearings_stand_on_the_page_of_a_linkage_only() -> None:
    found = find_page_bearings(lw.gallery("slider-crank"))
    text = bearings_section(found, "slider-crank")
    assert "one turn a second" in text
    assert text.count("<tr>") == 1 + 4
    assert find_page_bearings(lw.gallery("elbow")) is None
    assert find_page_bearings(lw.gallery("stewart")) is None
    assert bearings_section(None, "elbow") == ""


def test_modes_of_a_double_pendulum() -> None:
    """Hanging down; frequencies of M a'' + K a = 0 written by hand, in absolute angles."""
    arm = lw.gallery("elbow")
    p = {name: float(value) for name, value in lw.derive(arm).parameters.items()}
    m1, m2, l1, lc1, lc2, g = (p[key] for key in ("m1", "m2", "l1", "lc1", "lc2", "g"))
    M = np.array(
        [
            [p["I1"] + m1 * lc1**2 + m2 * l1**2, m2 * l1 * lc2],
            [m2 * l1 * lc2, p["I2"] + m2 * lc2**2],
        ]
    )
    K = np.diag([(m1 * lc1 + m2 * l1) * g, m2 * lc2 * g])
    wanted = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K))))
    found = find_page_modes(arm)
    assert found is not None
    np.testing.assert_allclose([mode.frequency for mode in found.modes], wanted, rtol=1e-9)
    assert found.place == "q1 = -90°, q2 = 0°"
    one = found.modes[0].motion
    assert one.t[-1] == pytest.approx(3 * 2 * np.pi / wanted[0])
    np.testing.assert_allclose(one.q[0], one.q[-1], atol=1e-12)
    assert 0.25 < np.abs(one.q - one.q[0]).max() < 0.35
    assert modes_section(found, "elbow").count('class="lw-motion"') == 2


@pytest.mark.parametrize("name", ["rolling-disk", "bouncing-ball", "stewart"])
def test_what_does_not_come_to_rest_has_no_modes(name: str) -> None:
    assert find_page_modes(lw.gallery(name)) is None
    assert modes_section(None, name) == ""


def test_modes_of_a_linkage_keep_its_loop_closed() -> None:
    found = find_page_modes(lw.gallery("four-bar"))
    assert found is not None
    q = found.modes[0].motion.q
    assert np.abs(lw.compile(lw.gallery("four-bar")).constraint_residual(q)).max() < 1e-9


def test_reasons_are_escaped() -> None:
    missing = LeftOutPagePart(HOSTILE)
    for section in (ranges_section, bearings_section, modes_section):
        text = section(missing, HOSTILE)
        assert "<script" not in text
        assert "&lt;script" in text


def test_a_lecture_derives_line_by_line() -> None:
    text = lecture_page(lw.gallery("elbow"), "elbow", by=["lagrange", "hamilton"])
    numbers = [int(n) for n in re.findall(r'<span class="number">\((\d+)\)</span>', text)]
    assert numbers[: numbers.index(23) + 1] == list(range(1, 24))  # as derive --steps prints them
    assert "Positions of the centres of mass" in text
    assert "By hamilton" in text
    assert "linkwright report elbow --lecture --by lagrange,hamilton" in text
    assert 'id="motion"' not in text


def test_a_lecture_takes_no_motion() -> None:
    done = run("report", "elbow", "--lecture", "-t", "3")
    assert done.returncode == 2
    assert "leave out --lecture" in done.stderr


def test_a_lecture_needs_something_that_moves() -> None:
    with pytest.raises(LinkwrightError, match="no degrees of freedom"):
        lecture_page(lw.gallery("elbow").reduced(lock={"q1": 0.0, "q2": 0.0}))


def test_names_and_signs_in_sentences_are_typeset() -> None:
    """Of a four-bar: θ1 with its index, and minus signs, not hyphens."""
    text = ranges_section(find_page_ranges(lw.gallery("four-bar")), "four-bar")
    assert "velocity ratio: −0.481298, at θ<sub>1</sub> = 338°" in text
    assert "<td>θ<sub>1</sub></td>" in text
    assert typeset_page_law("a-1 and 1e-05 at -3 - 4") == "a-1 and 1e-05 at −3 − 4"
