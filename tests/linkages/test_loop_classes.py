"""Grashof's rule and Barker's names."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import linkwright as lw
from tests.linkages.linkage_files import example

CLASSES = [
    ((1.0, 3.0, 2.5, 3.5), "GCCC", "double-crank"),
    ((3.5, 1.0, 3.0, 2.5), "GCRR", "crank-rocker"),
    ((3.5, 3.0, 1.0, 2.5), "GRCR", "double-rocker"),
    ((3.5, 3.0, 2.5, 1.0), "GRRC", "rocker-crank"),
    ((4.8, 2.0, 3.0, 2.5), "RRR1", "triple-rocker"),
    ((2.0, 4.8, 3.0, 2.5), "RRR2", "triple-rocker"),
    ((2.0, 3.0, 4.8, 2.5), "RRR3", "triple-rocker"),
    ((2.0, 3.0, 2.5, 4.8), "RRR4", "triple-rocker"),
    ((2.0, 3.0, 5.0, 4.0), "SCCC", "change-point double-crank"),
    ((5.0, 2.0, 3.0, 4.0), "SCRR", "change-point crank-rocker"),
    ((3.0, 1.0, 3.0, 1.0), "S2X", "parallelogram or antiparallelogram"),
    ((3.0, 3.0, 1.0, 1.0), "S2X", "deltoid (kite)"),
    ((2.0, 2.0, 2.0, 2.0), "S3X", "rhombus"),
]
"""Ground, input, coupler, output; after Barker (1985), table 1."""


@pytest.mark.parametrize(("lengths", "code", "name"), CLASSES)
def test_classes_of_barker(lengths: tuple[float, ...], code: str, name: str) -> None:
    found = lw.linkages.four_bar_class(*lengths)
    assert (found.code, found.name) == (code, name)
    assert found.is_grashof == code.startswith("G")
    assert found.is_change_point == code.startswith("S")


@pytest.mark.slow
def test_classes_agree_with_the_motion() -> None:
    """A link on ground makes full turns as the class says; the sweep knows nothing of lengths."""
    for lengths in itertools.permutations((1.0, 3.0, 2.5, 3.5)):
        ground, one, coupler, two = lengths
        bars = lw.gallery("four-bar").with_parameters(l1=one, l2=coupler, l3=two, l4=ground)
        code = lw.linkages.loop_classes(bars)[0].code
        if code in ("GCCC", "GCRR"):
            assert lw.linkages.input_range(bars, "theta1", rough={"theta1": 1.5}).makes_full_turns
        if lengths in ((3.5, 3.0, 1.0, 2.5), (3.5, 2.5, 3.0, 1.0)):
            found = lw.linkages.input_range(bars, "theta1", rough={"theta1": 1.5})
            assert not found.makes_full_turns


def test_loops_of_the_examples() -> None:
    watt = lw.linkages.loop_classes(example("watt-six-bar"))
    assert [one.code for one in watt] == ["GCRR", "GRRC"]
    assert watt[1].lengths == pytest.approx((0.25, 0.2, 0.25, 0.18))
    shaper, ram = lw.linkages.loop_classes(example("quick-return"))
    assert shaper.name == "inverted slider-crank"
    assert shaper.lengths == pytest.approx((0.0, 0.3, 0.1))
    assert shaper.shortest == "crank"
    assert ram.name == "slider-crank"
    assert ram.lengths == pytest.approx((0.53, 0.55, 0.15))
    assert not ram.is_grashof
    with pytest.raises(lw.LinkwrightError, match="no loop of four links"):
        lw.linkages.loop_classes(example("geared-five-bar"))


@pytest.mark.parametrize(
    ("offset", "turns"), [(0.6, True), pytest.param(0.8, False, marks=pytest.mark.slow)]
)
def test_offset_slider_crank(offset: float, turns: bool) -> None:
    """a + e < b, with a = 0.3 and b = 1."""
    data = lw.gallery("slider-crank").model_dump(exclude_unset=True)
    data["joints"]["q3"]["origin"] = {"xyz": [0, offset, 0]}
    engine = lw.Mechanism(**data)
    (found,) = lw.linkages.loop_classes(engine)
    assert found.margin == pytest.approx(0.7 - offset)
    assert found.is_grashof == turns
    assert lw.linkages.input_range(engine).makes_full_turns == turns


def test_lengths_that_do_not_close_are_refused() -> None:
    with pytest.raises(lw.LinkwrightError, match="output is longer than the others together"):
        lw.linkages.four_bar_class(1, 1, 1, 5)
    with pytest.raises(lw.LinkwrightError, match="the length of coupler"):
        lw.linkages.four_bar_class(1, 1, -1, 1)
    assert np.isclose(lw.linkages.four_bar_class(6, 2, 7, 9).margin, 2.0)
