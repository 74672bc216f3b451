"""`check=True`: what counts as closed grows with the velocities, as their rounding errors do."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.cli.commands.compare_command import _read_links_option
from linkwright.comparison.size_scaling import MAX_CHAIN_LINKS
from linkwright.errors import LinkwrightError
from tests.commands import run


@pytest.mark.parametrize("speed", [1.0, 1e6, 1e9])
def test_velocities_are_checked_in_proportion(speed: float) -> None:
    mechanism = lw.gallery("four-bar")
    model = lw.compile(mechanism)
    q = lw.simulate(mechanism, 0.1, samples=3).q[-1]
    allowed = np.linalg.svd(model.constraint_jacobian(q))[2][-1]
    qd = speed * allowed
    assert model.kinetic_energy(q, qd, check=True) == model.kinetic_energy(q, qd)
    with pytest.raises(LinkwrightError, match="velocities"):
        model.kinetic_energy(q, qd + 1e-3 * speed, check=True)


def test_numbers_of_links_reach_up_to_the_limit() -> None:
    """Both ends are among them."""
    for text in (f"2-{MAX_CHAIN_LINKS}", f"1,{MAX_CHAIN_LINKS}"):
        assert _read_links_option(text)[-1] == MAX_CHAIN_LINKS
    assert _read_links_option("1-3") == [1, 2, 3]
    for text in ("0-3", "3-3", f"2-{MAX_CHAIN_LINKS + 1}", f"2,{MAX_CHAIN_LINKS + 1}", "0,2", "x"):
        with pytest.raises(LinkwrightError, match="is not a list of numbers of links"):
            _read_links_option(text)


def test_two_formats_of_equations_are_refused() -> None:
    found = run("derive", "elbow", "--as", "latex", "--json")
    assert found.returncode != 0
    assert "--as latex and --json are both given" in found.stderr + str(found.stdout)
    assert run("derive", "elbow", "--as", "json", "--json").returncode == 0
