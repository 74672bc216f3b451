"""Rolling and cutting that makes no sense: one clear sentence."""

from __future__ import annotations

import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.mechanism import replace_part_fields


def changed(whole: lw.Mechanism, constraint: str, **fields: object) -> lw.Mechanism:
    part = replace_part_fields(whole.constraints[constraint], **fields)
    return replace_part_fields(whole, constraints={**whole.constraints, constraint: part})


@pytest.mark.parametrize(
    ("mechanism", "constraint", "change", "sentence"),
    [
        ("rolling-disk", "rolling", {"radius": 0}, "radius: is not a positive radius"),
        ("rolling-disk", "rolling", {"radius": "-r"}, "radius: is not a positive radius"),
        ("rolling-disk", "rolling", {"radius": "2 kg"}, "radius: is in kg; give it in m"),
        ("rolling-disk", "rolling", {"radius": "rr"}, "'rr', which is not given"),
        ("rolling-disk", "rolling", {"wheel": "dsik"}, "unknown body or frame 'dsik'; did you mean 'disk'"),
        ("rolling-disk", "rolling", {"on": "plane"}, "on: unknown body or frame 'plane'"),
        ("rolling-disk", "rolling", {"on": "disk"}, "both ends are the same"),
        ("rolling-disk", "rolling", {"axle": [0, 0, 0]}, "axle: is zero; give a direction"),
        ("rolling-disk", "rolling", {"axle": [0, 1]}, "axle: has 2 numbers; give 3"),
        ("rolling-disk", "rolling", {"other_radius": "-r"}, "no distance between the axles"),
        ("sharp-edged-disk", "edge", {"normal": [0, 0, 0]}, "normal: is zero; give a direction"),
        ("sharp-edged-disk", "edge", {"relative_to": "A"}, "unknown body or frame 'A'"),
        ("sharp-edged-disk", "turning", {"on": "q4"}, "on: unknown coordinate 'q4'"),
        ("sharp-edged-disk", "turning", {"position": "q1*t"}, "position: depends on the motion"),
    ],
)  # fmt: skip
def test_wrong_input(
    mechanism: str, constraint: str, change: dict[str, object], sentence: str
) -> None:
    with pytest.raises(LinkwrightError) as caught:
        changed(lw.gallery(mechanism), constraint, **change)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
