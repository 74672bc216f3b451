"""Every equation that a paper prints goes through the checker: those that are right are proved, those
that are known to be wrong are found, and where one misprint explains it, so is the misprint."""

from __future__ import annotations

from pathlib import Path

import pytest

import linkwright as lw
from linkwright.checking import CheckReport, Finding
from linkwright.mechanism import replace_part_fields

HOME = Path(lw.__file__).parent / "mechanism" / "gallery_files"
FILES = (
    "cartesian",
    "chain-6",
    "elbow",
    "remote-elbow",
    "triple-pendulum",
    "stanford-rrp",
    "sharp-edged-disk",
)
NAMES = {"chain-6": {f"D{k}": f"D{k}" for k in range(1, 7)}}
ASSUMED = {
    "sharp-edged-disk": {"tau1 = 0, tau2 = 0, tau3 = 0, tau4 = 0"},
    "triple-pendulum": {"gamma = 0"},
}
"""No drives act on the disk; (70)-(76) leave the dampers out."""
REPAIRS = {
    ("triple-pendulum", "42"): "the sign of the term l1*dtheta1^2*cos(theta1) is changed",
    ("triple-pendulum", "58"): "the factor l3 is added to the term ddtheta2*m3*l2*cos(theta2 - theta3)",
    ("triple-pendulum", "61"): "the factor l2 is added to the term dtheta3*m3*l3*cos(theta2 - theta3)",
    ("triple-pendulum", "65"): "the factor l2 is added to the term m3*dtheta2*dtheta3*l3*sin(theta2 - theta3)",
    ("triple-pendulum", "67"): "the signs of all terms but",
    ("elbow", "nine Y25"): "theta5 is theta6",
    ("elbow", "nine Y24"): "dq1 is squared",
    ("elbow", "six y23"): "dq1 is squared",
    ("elbow", "six Theta5"): "l1^2 is l1",
    ("stanford-rrp", "15"): "the sign of the term dtheta2*y_B is changed",
    ("stanford-rrp", "table 1"): "the sign of the term y_B is changed",
    ("remote-elbow", "6.4.27"): "is halved",
    ("chain-6", "7"): "is K",
    ("chain-6", "9"): "is K",
    ("chain-6", "10"): "the sign of the term gy*y",
    ("chain-6", "11"): "the sign of the term gy*y",
    ("chain-6", "12"): "the sign of the term gy*y",
    ("chain-6", "15"): "is halved",
    ("sharp-edged-disk", "38"): "the factor eps is left out of the term eps*omega*q1*z_PR",
    ("sharp-edged-disk", "39"): "the factors eps inside of another are left out",
    ("sharp-edged-disk", "44"): "dq1 is dq3",
    ("sharp-edged-disk", "53"): "the sign of the term omega^2*sin(q3)*q1 is changed",
}  # fmt: skip


def arm(name: str) -> lw.Mechanism:
    """The gallery's, and for the chain the dampers that its paper has."""
    plain = lw.gallery(name)
    if name != "chain-6":
        return plain
    damped = {
        joint: replace_part_fields(part, damping=f"D{k}")
        for k, (joint, part) in enumerate(plain.joints.items(), 1)
    }
    parameters = {**plain.parameters, **{f"D{k}": k for k in range(1, 7)}}
    return replace_part_fields(plain, joints=damped, parameters=parameters)


def file_of(name: str) -> Path:
    return HOME / f"{name}.equations.txt"


SLOW = [pytest.param(x, marks=pytest.mark.slow) if x == "chain-6" else x for x in FILES]


@pytest.fixture(scope="module", params=SLOW)
def checked(request: pytest.FixtureRequest) -> tuple[str, CheckReport]:
    name = request.param
    return name, lw.check(arm(name), file_of(name), names=NAMES.get(name))


def test_right_is_proved_and_wrong_is_found(checked: tuple[str, CheckReport]) -> None:
    name, report = checked
    assert report.passed, [x for x in report if not x.is_right][:2]
    proved = [x for x in report if x.status == "identical"]
    assert proved
    assert all(x.chance < 2.0**-50 for x in proved)
    assumed = {x.under for x in proved} - {""}
    assert assumed <= ASSUMED.get(name, set())


def test_single_misprints_are_named(checked: tuple[str, CheckReport]) -> None:
    name, report = checked
    wrong: list[Finding] = [x for x in report if x.is_said_wrong]
    for finding in wrong:
        expected = REPAIRS.get((name, finding.number))
        if expected is not None:
            assert expected in finding.repairs[0].what, finding
    if name == "triple-pendulum":
        misprints = [x for x in wrong if x.section != "approximate" and x.number != "13"]
        text = "\n".join(x.repairs[0].equation for x in misprints)
        said = [x for x in file_of(name).read_text(encoding="utf-8").splitlines() if " is F" in x]
        assert lw.check(arm(name), "\n".join([*said, text])).passed


def test_all_files_are_checked() -> None:
    assert {x.name.removesuffix(".equations.txt") for x in HOME.glob("*.equations.txt")} == {*FILES}


def test_motion_is_determined(checked: tuple[str, CheckReport]) -> None:
    name, report = checked
    if name != "sharp-edged-disk":
        assert f"determine all {lw.derive(arm(name)).nv} accelerations" in report.note


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("V_OB = omega*y_OB", "V_OB = 2*omega*y_OB"),
        ("- eps*omega*q1*z_PC", "+ eps*omega*q1*z_PC"),
        ("(table 2): v1_D = eps*x_D", "(table 2): v1_D = x_D"),
        ("(table 2): v2_D = -z_D/l", "(table 2): v2_D = -z_D/l + eps*y_D"),
        ("VDy = omega*cos(q3)", "VDy = omega*cos(q3) + eps*u2"),
        ("HPz/m1 = -omega*q1", "HPz/m2 = -omega*q1"),
        ("FDy/m2 = omega^2*sin(q3)", "FDy/m2 = omega^2*cos(q3)"),
        ("BV_D is V_D - V_OB", "BV_D is V_D"),
        ("frame PC on B at P", "frame PC on B at D"),
        ("[without edge]", "[without turning]"),
    ],
)
def test_slips_in_dual_vectors_are_seen(old: str, new: str) -> None:
    text = file_of("sharp-edged-disk").read_text(encoding="utf-8")
    assert old in text
    report = lw.check(lw.gallery("sharp-edged-disk"), text.replace(old, new))
    assert [x for x in report if not x.is_right and x.status == "differs"]
