"""Controllers as data: runs that they drove are made again from files, and files ask for them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.control import made_by, pd_gravity
from linkwright.errors import LinkwrightError, UnsupportedError
from linkwright.simulation import repeat
from linkwright.simulation.provenance import largest_difference

from ..commands import ok, run
from .tracking import ELBOW, HEAVIER, NAMES, WAYS, controller


@pytest.mark.parametrize("name", NAMES)
def test_runs_of_controllers_are_made_again(name: str, tmp_path: Path) -> None:
    """Bit for bit, though the law knows another mechanism than the one that moves."""
    heavier, start = HEAVIER["elbow"], WAYS["elbow"].start
    first = lw.simulate(heavier, 0.2, q0=start, torque=controller(name, ELBOW), samples=11)
    first.save(tmp_path / "run.nc")
    again = repeat(tmp_path / "run.nc")
    assert largest_difference(first, again) == 0.0
    assert again.settings == first.settings
    for state, values in first.control.items():
        np.testing.assert_array_equal(again.control[state], values)


def test_a_reference_of_python_is_in_no_file() -> None:
    law = pd_gravity(ELBOW, lambda t: ([t, 0], [1, 0], [0, 0]), 10, 1)
    with pytest.raises(UnsupportedError, match="controller was a function of Python"):
        repeat(lw.simulate(ELBOW, 0.05, torque=law, samples=3))


def test_command_takes_a_file(tmp_path: Path) -> None:
    """The quintic of the file ends where it says; computed torque is on it all the way."""
    file = tmp_path / "law.toml"
    file.write_text(
        'controller = "computed_torque"\nkp = 100.0\n'
        "reference = { start = [-0.5, 1.2], end = [0.5, 0.4], time = 0.5 }\n"
    )
    found = json.loads(
        ok("simulate", "elbow", "q1=-0.5", "q2=1.2", "-t", "0.6", "--control", str(file), "--json")
    )
    np.testing.assert_allclose(found["q"], [0.5, 0.4], atol=1e-8)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('controller = "pidd"', "unknown controller 'pidd'; did you mean 'pid'"),
        ('controller = "pid"', "'pid' needs 'reference'"),
        ('controller = "pid"\nkp = 1\nreference = [0.1]', "the set point must be 2 numbers"),
        ('controller = "pid"\nkq = 1\nreference = 1', "'pid' has no 'kq'"),
        ('controller = "pid"\nkp = 1\nreference = {a = 1}', "a reference does not take a"),
        ('controller = "pid"\nkp = "x"\nreference = 1', "kp must be 1 or 2 finite numbers"),
        ('controller = "pid"\nkp = 1\nreference = 1\nperiod = "x"', "'pid' cannot be made"),
        ('controller = "pid"\nkp = 1\nreference = {knots = ["a"], coefficients = []}', "cannot be made"),
        ("controller = [", "is not valid TOML"),
    ],
)  # fmt: skip
def test_mistakes_in_the_file_are_one_sentence(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "law.toml"
    file.write_text(text)
    done = run("simulate", "elbow", "--control", str(file))
    assert done.returncode == 2
    assert words in done.stderr
    assert "law.toml" in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_a_recipe_is_made_for() -> None:
    """Without a mechanism of its own, the one that is given; drives beside it are refused."""
    law = made_by({"controller": "pid", "kp": 10, "reference": [0.1, 0.2]}, ELBOW)
    assert law.sizes == (2, 2)
    with pytest.raises(LinkwrightError, match="needs a mechanism"):
        made_by({"controller": "pid", "kp": 10, "reference": [0.1, 0.2]})
