"""The example of sampled controls swings the pole up, also with kernels in single precision."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from .processor_device import install

PLACE = Path(__file__).parents[2] / "examples/swing_up.py"


def load_example() -> object:
    spec = importlib.util.spec_from_file_location("swing_up", PLACE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["swing_up"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_pole_ends_upright(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if device == "cuda":
        fake = install(monkeypatch)
        for name in ("zeros_like", "float32", "cos"):
            setattr(fake, name, getattr(np, name))
    example = load_example()
    sweep = example.Sweep(samples=256)  # type: ignore[attr-defined]
    found = example.swing_up(device, 3.0, sweep=sweep)  # type: ignore[attr-defined]
    assert abs(found[0, 2]) == pytest.approx(np.pi)
    assert np.abs(found[-25:, 2]).max() < 0.5
    assert np.abs(found[:, 1]).max() < 3
