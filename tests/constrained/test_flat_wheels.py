"""A wheel that falls flat ends a run: with the reason, and with the part up to there."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.files.toml_reader import read_toml
from tests.constrained.test_rolling_sides import COIN

R, M, ACROSS = 0.2, 1.0, 0.01
LEAN = 0.5


def coin() -> lw.Mechanism:
    text = COIN.replace('"GRAVITY"', "-9.81").replace("[0.01, 0.01, 0.02]", "[0.01, 0.02, 0.01]")
    return read_toml(text)


def time_to_fall(lean: float) -> float:
    """Of a disk that tips over its lowest point: θ'² = 2 m g r (cos θ₀ − cos θ)/(I + m r²)."""
    from scipy.integrate import quad

    rate = 2 * M * 9.81 * R / (ACROSS + M * R**2)

    def integrand(u: float) -> float:  # θ = lean + u², which takes the root at the start away
        theta = lean + u * u
        share = (np.cos(lean) - np.cos(theta)) / (u * u) if u > 1e-6 else np.sin(lean)
        return float(2 / np.sqrt(rate * share))

    return float(quad(integrand, 0, np.sqrt(np.pi / 2 - lean), epsabs=1e-12)[0])


@pytest.mark.parametrize(
    "options",
    [{}, {"by": "newton_euler"}, {"integrator": "rk4", "step": 1e-3}, {"integrator": "radau"}],
)
def test_a_quaternion_coin_that_falls_flat_ends_the_run(options: dict[str, object]) -> None:
    q0 = {"f.qw": np.cos(LEAN / 2), "f.qx": np.sin(LEAN / 2), "f.qy": 0.0, "f.qz": 0.0}
    run = lw.simulate(coin(), t=1.0, q0=q0, samples=101, **options)  # type: ignore[arg-type]
    assert not run.finished
    assert "the wheel of 'roll' falls flat" in run.status
    stopped = float(run.status.split("t = ")[1].split(" s")[0])
    assert stopped == pytest.approx(time_to_fall(LEAN), abs=2e-3)
    assert run.t[-1] == pytest.approx(np.floor(100 * stopped) / 100)
    assert run.accounted


def test_states_in_which_a_wheel_lies_flat_give_no_traceback() -> None:
    model = lw.compile(coin())
    flat = np.array([0, 0, 0, np.sqrt(0.5), np.sqrt(0.5), 0, 0])
    found = model.forward_dynamics(flat * 1.0, np.zeros(6), np.zeros(6))
    assert found.shape == (6,)
