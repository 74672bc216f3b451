"""Laws that hold for four-bars of any lengths, and the example script."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import linkwright as lw
from linkwright.linkages.linkage_statics import linkage_statics
from linkwright.linkages.planar_linkage import planar_linkage
from tests.references.four_bar import FourBar

LENGTHS = st.integers(10, 50).map(lambda n: n / 10)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(LENGTHS, LENGTHS, LENGTHS, LENGTHS, st.integers(0, 62).map(lambda n: n / 10))
def test_four_bars_of_any_lengths(
    l1: float, l2: float, l3: float, l4: float, theta1: float
) -> None:
    """Freudenstein's ratios, the law of cosines, virtual work, and Kennedy's ratio of distances."""
    diagonal = np.sqrt(l1**2 + l4**2 - 2 * l1 * l4 * np.cos(theta1))
    cosine = (l2**2 + l3**2 - diagonal**2) / (2 * l2 * l3) if diagonal > 0.1 else 2.0
    assume(abs(cosine) < 0.95)
    bars = FourBar(l1, l2, l3, l4)
    theta = bars.angles(theta1)
    mechanism = lw.gallery("four-bar").with_parameters(l1=l1, l2=l2, l3=l3, l4=l4)
    rough = dict(zip(("theta1", "theta2", "theta3"), theta.tolist(), strict=True))
    found = lw.linkages.analyze_linkage(
        mechanism, over=(theta1, theta1 + 1e-3), rough=rough, samples=2
    )
    G, H = bars.influence(theta)
    assert found.velocity_ratio[0] == pytest.approx(G[2], rel=1e-9, abs=1e-11)
    assert found.acceleration_ratio[0] == pytest.approx(H[2], rel=1e-9, abs=1e-9)
    assert found.transmission_angle[0] == pytest.approx(np.arccos(abs(cosine)), abs=1e-10)
    linkage = planar_linkage(mechanism)
    motions = linkage.motions(found.motion.t, found.motion.q, found.motion.qd)
    statics = linkage_statics(linkage, found.motion, motions, 0, 3)
    assert statics.input_force == pytest.approx(-found.velocity_ratio, rel=1e-9, abs=1e-11)
    center = lw.linkages.instant_centers(mechanism, found.motion.q[0]).between("crank", "rocker")
    if center.kind == "pole":
        away = center.point[0]
        assert away * 1.0 == pytest.approx((away - l4) * G[2], rel=1e-7, abs=1e-7)


@pytest.mark.slow
def test_the_example_script_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = Path(__file__).parents[2] / "examples/linkages.py"
    runpy.run_path(str(script))["main"](tmp_path, "svg")
    printed = capsys.readouterr().out
    assert "the output moves by 0.024°" in printed
    beta = np.degrees(np.arcsin(1 / 3))
    assert f"takes {(180 + 2 * beta) / (180 - 2 * beta):.4f} times as long" in printed
    assert len(list(tmp_path.glob("linkage-*.svg"))) == 11
