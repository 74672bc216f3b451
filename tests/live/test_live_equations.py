"""Equations beside the picture: entries, their values, what is folded and what is too long."""

from __future__ import annotations

import re

import numpy as np
import pytest

import linkwright as lw
from linkwright.live.scene_equations import MAX_ENTRY_TEXT
from tests.live.viewer_modules import STATE, run_modules
from tests.node import needs_node


def _quantities(scene: lw.live.LiveScene, q: list[float], qd: list[float]) -> list[list[float]]:
    found: list[list[float]] = run_modules(
        "state simulation",
        STATE + f"state.q.set({q}); state.qd.set({qd}); state.touch();"
        "return ['mass_matrix', 'coriolis_matrix', 'gravity'].map((name) => state.quantity(name));",
        scene,
    )
    return found


@needs_node
def test_values_of_entries_are_those_of_the_textbook() -> None:
    """M, C q̇ and g of two uniform rods, as derived by hand (Spong, Robot Dynamics, 7.3)."""
    arm = lw.gallery("elbow")
    l1, l2, m1, m2, g = (float(arm.values[x]) for x in ("l1", "l2", "m1", "m2", "g"))
    c1, c2, i1, i2 = l1 / 2, l2 / 2, m1 * l1**2 / 12, m2 * l2**2 / 12
    q, qd = [0.3, 0.8], [1.1, -0.7]
    equations = lw.live.equations_of(arm)
    mass, coriolis, gravity = _quantities(lw.live.scene(arm, equations=equations), q, qd)
    cross = m2 * l1 * c2 * np.cos(q[1])
    low = m2 * c2**2 + i2
    first = m1 * c1**2 + i1 + m2 * l1**2 + low + 2 * cross
    np.testing.assert_allclose(mass, [first, low + cross, low + cross, low], rtol=1e-13)
    h = m2 * l1 * c2 * np.sin(q[1])
    product = np.reshape(coriolis, (2, 2)) @ qd
    np.testing.assert_allclose(product, [-h * (2 * qd[0] * qd[1] + qd[1] ** 2), h * qd[0] ** 2])
    outer = m2 * g * c2 * np.cos(sum(q))
    inner = (m1 * c1 + m2 * l1) * g * np.cos(q[0])
    np.testing.assert_allclose(gravity, [inner + outer, outer], rtol=1e-13)


@pytest.mark.parametrize("name", ["elbow", "six-axis", "stewart"])
def test_each_entry_has_the_place_of_its_label(name: str) -> None:
    """Row by row, from the indices in the label."""
    for one in lw.live.equations_of(lw.gallery(name)):
        count = lw.compile(lw.gallery(name)).nv
        for entry in one.entries:
            written = re.findall(r"<mn>(\d+)</mn>|<mtext>(\d+),?\s*(\d+)?</mtext>", entry.label)
            assert written, entry.label
            assert 0 <= entry.index < (count if one.quantity == "gravity" else count**2)
        assert len({entry.index for entry in one.entries}) == len(one.entries)


def test_long_entries_are_folded_and_too_long_ones_have_a_word() -> None:
    mass, coriolis, gravity = lw.live.equations_of(lw.gallery("six-axis"))
    assert {bool(entry.formula) for entry in mass.entries} == {True, False}
    for entry in mass.entries:
        assert bool(entry.formula) == (entry.characters <= MAX_ENTRY_TEXT)
        assert entry.is_folded == (90 < entry.characters <= MAX_ENTRY_TEXT)
    assert not any(entry.formula for entry in coriolis.entries)
    assert "linkwright derive six-axis" in coriolis.note
    assert "operations" in coriolis.note
    assert 'data-symbol="q4"' in "".join(entry.formula for entry in gravity.entries)


def test_a_large_mechanism_says_that_its_equations_are_too_long() -> None:
    (only,) = lw.live.equations_of(lw.gallery("chain-30"))
    assert only.entries == ()
    assert only.note.startswith("chain-30 has 30 velocities")


def test_a_formulation_is_shown_in_its_own_form() -> None:
    """Newton and Euler: three balances for each of three bodies in the plane."""
    found = lw.live.equations_of(lw.gallery("four-bar"), by="newton_euler")
    forces = [one for one in found if one.title.startswith("Forces on ")]
    assert [len(one.entries) for one in forces] == [3, 3, 3]
    assert found[0].title.endswith("(newton_euler)")
    assert "17 equations" in found[0].note
    assert not any(one.quantity for one in found)
    data = lw.live.scene(lw.gallery("four-bar"), equations=found).data["equations"]
    assert isinstance(data, list)
    assert len(data) == len(found)


def test_units_of_lengths_that_only_loops_have() -> None:
    parameters = lw.live.scene(lw.gallery("four-bar")).data["parameters"]
    assert isinstance(parameters, list)
    units = {one["name"]: one["unit"] for one in parameters}
    assert [units[name] for name in ("l1", "l2", "l3", "l4")] == ["m"] * 4
