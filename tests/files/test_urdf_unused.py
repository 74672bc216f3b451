"""What a URDF says in vain is told: limits of a joint that turns without end."""

from __future__ import annotations

from pathlib import Path

import pytest

import linkwright as lw

ROBOT = """<robot name="r"><link name="base"/>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="{kind}"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="3" velocity="2"/></joint></robot>"""


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("continuous", ("joint j: lower and upper limit of a continuous joint",)),
        ("revolute", ()),
        ("prismatic", ()),
    ],
)
def test_limits_without_use(kind: str, told: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(ROBOT.format(kind=kind))
    assert lw.load(path).unused == told
