"""Robots of others: none loads wrong (a sample of what `benchmarks/files.py` prints)."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_no_file_is_wrong() -> None:
    """Every ninth file: what loads has the numbers, actuators and keyframes of its program."""
    from benchmarks.files import judge_all

    found = [(path, verdict) for _, path, verdict in judge_all(every=9)]
    wrong = [f"{path}: {verdict.reason}" for path, verdict in found if verdict.state == "wrong"]
    assert not wrong
    assert sum(verdict.state == "loaded" for _, verdict in found) >= 8


def test_a_wrong_file_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a mass changed between reading and comparing."""
    from benchmarks.files import judge_file

    import linkwright as lw
    from linkwright.mechanism import replace_part_fields
    from tests.robots import path_of

    path, load = path_of("double_pendulum.urdf"), lw.load
    assert judge_file(path).state == "loaded"

    def load_heavier(source: object, **options: object) -> lw.Mechanism:
        arm = load(source, **options)
        bodies = {
            name: replace_part_fields(body, mass=1.001 * float(lw.compile(arm).nv))
            for name, body in arm.bodies.items()
        }
        return replace_part_fields(arm, bodies=bodies)

    monkeypatch.setattr(lw, "load", load_heavier)
    assert judge_file(path).state == "wrong"
