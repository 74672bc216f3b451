"""Mechanisms of the gallery with references that are written by hand, and textbook equations of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

import linkwright as lw
from tests.references.polynomial_vectors import (
    ZERO,
    Vector,
    apply,
    compose,
    cross,
    plus,
    quarter,
    turn,
    vector,
)
from tests.references.reference_mechanics import RefBody, Reference, lump
from tests.references.trig_polynomials import Poly, cos, sin, var

Z = (0, 0, 1)
F = Fraction
ROWS = (
    "J",
    "f",
    "lambda",
)  # in which order and with which signs constraints are written is a choice


@dataclass(frozen=True)
class Subject:
    """A mechanism, its reference, and textbook equations of it."""

    name: str
    mechanism: lw.Mechanism
    reference: Reference
    textbook: Sequence[str] = ()
    withheld: Sequence[str] = ()  # names whose meaning depends on a convention
    names: Mapping[str, str] = field(default_factory=dict)


def down(axis: str = "y", g: str = "g") -> Vector:
    return tuple(-var(g) if axis == x else Poly() for x in "xyz")  # type: ignore[return-value]


def values(**numbers: float | str) -> dict[str, Fraction | str]:
    return {name: x if isinstance(x, str) else F(str(x)) for name, x in numbers.items()}


def rod(
    name: str, angle: Mapping[str, int] | str, at: Vector, mass: str, center: object, I: object
) -> RefBody:
    """A body of the plane: its x axis at an angle."""
    return RefBody(name, turn(Z, angle), at, (lump(mass, (center, 0, 0), (0, 0, I)),))


ARM = values(
    m1=1, m2=1, l1=1, l2=1, lc1=0.5, lc2=0.5, I1="m1*l1^2/12", I2="m2*l2^2/12", g=9.81
)  # fmt: skip


def elbow() -> Subject:
    a = rod("link1", "q1", ZERO, "m1", "lc1", "I1")
    b = rod("link2", {"q1": 1, "q2": 1}, a.at(("l1", 0, 0)), "m2", "lc2", "I2")
    # Spong and Vidyasagar (1989), example 6.4.2
    d11 = "m1*lc1^2 + m2*(l1^2 + lc2^2 + 2*l1*lc2*cos(q2)) + I1 + I2"
    d12 = "m2*(lc2^2 + l1*lc2*cos(q2)) + I2"
    textbook = [
        f"d11 = {d11}",
        f"d12 = {d12}",
        "d22 = m2*lc2^2 + I2",
        "c121 = -m2*l1*lc2*sin(q2)",
        "c112 = m2*l1*lc2*sin(q2)",
        "phi1 = (m1*lc1 + m2*l1)*g*cos(q1) + m2*lc2*g*cos(q1 + q2)",
        "phi2 = m2*lc2*g*cos(q1 + q2)",
        f"tau1 = ({d11})*ddq1 + ({d12})*ddq2 - m2*l1*lc2*sin(q2)*(2*dq1*dq2 + dq2^2)"
        " + (m1*lc1 + m2*l1)*g*cos(q1) + m2*lc2*g*cos(q1 + q2)",
        "v2^2 = l1^2*dq1^2 + lc2^2*(dq1 + dq2)^2 + 2*l1*lc2*cos(q2)*dq1*(dq1 + dq2)",
    ]
    reference = Reference(["q1", "q2"], [a, b], ARM, down())
    return Subject("elbow", lw.gallery("elbow"), reference, textbook)


def remote_elbow() -> Subject:
    a = rod("link1", "p1", ZERO, "m1", "lc1", "I1")
    b = rod("link2", "p2", a.at(("l1", 0, 0)), "m2", "lc2", "I2")
    textbook = [  # Spong and Vidyasagar, example 6.4.3
        "d11 = m1*lc1^2 + m2*l1^2 + I1",
        "d12 = m2*l1*lc2*cos(p2 - p1)",
        "d22 = m2*lc2^2 + I2",
        "c221 = -m2*l1*lc2*sin(p2 - p1)",
        "c112 = m2*l1*lc2*sin(p2 - p1)",
        "phi1 = (m1*lc1 + m2*l1)*g*cos(p1)",
        "phi2 = m2*lc2*g*cos(p2)",
    ]
    reference = Reference(["p1", "p2"], [a, b], ARM, down())
    return Subject("remote-elbow", lw.gallery("remote-elbow"), reference, textbook)


def cartesian() -> Subject:
    a = RefBody("link1", quarter("z", 0), vector((0, 0, "q1")), (lump("m1"),))
    b = RefBody("link2", quarter("z", 0), vector((0, "q2", "q1")), (lump("m2"),))
    textbook = ["tau1 = (m1 + m2)*ddq1 + g*(m1 + m2)", "tau2 = m2*ddq2", "K = 1/2*(m1 + m2)*dq1^2 + 1/2*m2*dq2^2"]  # fmt: skip
    reference = Reference(["q1", "q2"], [a, b], values(m1=2, m2=1, g=9.81), down("z"))
    return Subject("cartesian", lw.gallery("cartesian"), reference, textbook)


def triple_pendulum() -> Subject:
    a = rod("link1", "theta1", ZERO, "m1", "l1", "I1")
    b = rod("link2", "theta2", a.at(("l1", 0, 0)), "m2", "l2", "I2")
    c = rod("link3", "theta3", b.at(("l2", 0, 0)), "m3", "l3", "I3")
    moves = {"tau1": var("theta1"), "tau2": var("theta2") - var("theta1"), "tau3": var("theta3") - var("theta2")}  # fmt: skip
    numbers = values(m1=1, m2=1, m3=1, l1=1, l2=1, l3=1, I1=0.01, I2=0.01, I3=0.01, g=9.81)
    reference = Reference(
        ["theta1", "theta2", "theta3"], [a, b, c], numbers, down(), actuators=moves
    )
    textbook = ["m3*ddx3 = -m3*(l1*(ddtheta1*sin(theta1) + dtheta1^2*cos(theta1)) + l2*(ddtheta2*sin(theta2)"
                " + dtheta2^2*cos(theta2)) + l3*(ddtheta3*sin(theta3) + dtheta3^2*cos(theta3)))"]  # fmt: skip
    return Subject("triple-pendulum", lw.gallery("triple-pendulum"), reference, textbook)


def cart_pole() -> Subject:
    cart = RefBody("cart", quarter("z", 0), vector(("x", 0, 0)), (lump("mc"),))
    half = var("l") * F(-1, 2)
    pole = RefBody("pole", turn(Z, "theta"), cart.p, (lump("mp", (0, half, 0), (0, 0, "I")),))
    numbers = values(mc=1, mp=0.1, l=1, I="mp*l^2/12", g=9.81)
    reference = Reference(["x", "theta"], [cart, pole], numbers, down())
    textbook = [
        "(mc + mp)*ddx + mp*l/2*cos(theta)*ddtheta - mp*l/2*sin(theta)*dtheta^2 = tau1",
        "mp*l/2*cos(theta)*ddx + (I + mp*l^2/4)*ddtheta + mp*g*l/2*sin(theta) = tau2",
        "1/2*mp*l*cos(theta)*ddx + 1/3*mp*l^2*ddtheta + 1/2*mp*g*l*sin(theta) = tau2",
        "T = 1/2*(mc + mp)*dx^2 + 1/2*mp*l*cos(theta)*dx*dtheta + 1/2*(I + mp*l^2/4)*dtheta^2",
    ]
    return Subject(
        "cart-pole", lw.gallery("cart-pole"), reference, textbook, withheld=("dx", "ddx")
    )


def four_bar() -> Subject:
    rods = [
        rod("crank", "theta1", ZERO, "m1", var("l1") * F(1, 2), "I1"),
        rod("rocker", "theta3", vector(("l4", 0, 0)), "m3", var("l3") * F(1, 2), "I3"),
    ]
    coupler = rod("coupler", "theta2", rods[0].at(("l1", 0, 0)), "m2", var("l2") * F(1, 2), "I2")
    apart = [coupler.at(("l2", 0, 0))[i] - rods[1].at(("l3", 0, 0))[i] for i in (0, 1)]
    numbers = values(m1=1, m2=1, m3=1, l1=1, l2=3, l3=2.5, l4=3.5, I1="m1*l1^2/12", I2="m2*l2^2/12", I3="m3*l3^2/12", g=9.81)  # fmt: skip
    reference = Reference(
        ["theta1", "theta2", "theta3"], [rods[0], coupler, rods[1]], numbers, down(),
        actuators={"tau1": var("theta1")}, positions=apart,
        start={"theta1": 1.0, "theta2": 0.6, "theta3": 1.7},
    )  # fmt: skip
    textbook = [  # Freudenstein (1955), and its rates
        "l1*cos(theta1) + l2*cos(theta2) = l4 + l3*cos(theta3)",
        "l1*sin(theta1) + l2*sin(theta2) = l3*sin(theta3)",
        "l2^2 = l1^2 + l3^2 + l4^2 + 2*l3*l4*cos(theta3) - 2*l1*l4*cos(theta1) - 2*l1*l3*cos(theta1 - theta3)",
        "dtheta2 = l1*sin(theta3 - theta1)/(l2*sin(theta2 - theta3))*dtheta1",
        "dtheta3 = l1*sin(theta2 - theta1)/(l3*sin(theta2 - theta3))*dtheta1",
    ]
    return Subject("four-bar", lw.gallery("four-bar"), reference, textbook, withheld=ROWS)


def slider_crank() -> Subject:
    crank = rod("crank", "theta1", ZERO, "m1", "lc1", "I1")
    link = rod("rod", "theta2", crank.at(("l1", 0, 0)), "m2", "lc2", "I2")
    piston = RefBody(
        "piston", quarter("z", 0), vector(("x", 0, 0)), (lump("m3", (0, 0, 0), (0, 0, "I3")),)
    )
    apart = [link.at(("l2", 0, 0))[i] - piston.p[i] for i in (0, 1)]
    numbers = values(m1=1.2, m2=0.8, m3=0.5, l1=0.3, l2=1, lc1=0.1, lc2=0.4, I1=0.02, I2=0.07, I3=0.001, g=9.81)  # fmt: skip
    reference = Reference(
        ["theta1", "theta2", "x"], [crank, link, piston], numbers, down(),
        actuators={"tau1": var("theta1")}, positions=apart,
        start={"theta1": 1.05, "theta2": -0.26, "x": 1.1},
    )  # fmt: skip
    textbook = [
        "x = l1*cos(theta1) + l2*cos(theta2)",
        "l1*sin(theta1) = -l2*sin(theta2)",
        "x = l1*cos(theta1) + sqrt(l2^2 - l1^2*sin(theta1)^2)",
        "dtheta2 = -l1*cos(theta1)/(l2*cos(theta2))*dtheta1",
        "dx = -l1*sin(theta1)*dtheta1 - l2*sin(theta2)*dtheta2",
    ]
    return Subject("slider-crank", lw.gallery("slider-crank"), reference, textbook, withheld=ROWS)


def five_bar() -> Subject:
    half = F(1, 2)
    a = rod("left_inner", "q1", ZERO, "m1", var("l1") * half, "I1")
    b = rod("left_outer", {"q1": 1, "p1": 1}, a.at(("l1", 0, 0)), "m2", var("l2") * half, "I2")
    c = rod("right_inner", "q2", vector(("l0", 0, 0)), "m4", var("l4") * half, "I4")
    d = rod("right_outer", {"q2": 1, "p2": 1}, c.at(("l4", 0, 0)), "m3", var("l3") * half, "I3")
    apart = [b.at(("l2", 0, 0))[i] - d.at(("l3", 0, 0))[i] for i in (0, 1)]
    numbers = values(l0=0.6, l1=0.5, l2=0.8, l3=0.7, l4=0.45, m1=1, m2=0.6, m3=0.5, m4=0.9,
                     I1="m1*l1^2/12", I2="m2*l2^2/12", I3="m3*l3^2/12", I4="m4*l4^2/12", g=9.81)  # fmt: skip
    reference = Reference(
        ["q1", "p1", "q2", "p2"], [a, b, c, d], numbers, down(),
        actuators={"tau1": var("q1"), "tau2": var("q2")}, positions=apart,
        start={"q1": 2.1, "p1": -1.2, "q2": 1.05, "p2": 1.2},
    )  # fmt: skip
    textbook = [
        "l1*cos(q1) + l2*cos(q1 + p1) = l0 + l4*cos(q2) + l3*cos(q2 + p2)",
        "l1*sin(q1) + l2*sin(q1 + p1) = l4*sin(q2) + l3*sin(q2 + p2)",
        "V_q2 = 1/2*m4*g*l4*cos(q2) + m3*g*(l4*cos(q2) + 1/2*l3*cos(q2 + p2))",
        "V_p1 = 1/2*m2*g*l2*cos(q1 + p1)",
    ]
    return Subject("five-bar", lw.gallery("five-bar"), reference, textbook, withheld=ROWS)


def rolling_disk() -> Subject:
    upright = compose(turn(Z, "psi"), turn((1, 0, 0), "theta"))
    center = vector(("x", "y", "z"))
    R = compose(upright, turn((0, 1, 0), "phi"))
    disk = RefBody("disk", R, center, (lump("m", (0, 0, 0), ("I", "J", "I")),))
    numbers = values(m=1, r=0.5, I="m*r^2/4", J="m*r^2/2", g=9.81)
    coordinates = ["x", "y", "z", "psi", "theta", "phi"]
    plain = Reference(coordinates, [disk], numbers, down("z"))
    down_to_contact = apply(upright, vector((0, 0, -var("r"))))
    slip = plus(vector(("dx", "dy", "dz")), cross(plain.turning(0), down_to_contact))
    reference = Reference(
        coordinates, [disk], numbers, down("z"), positions=[var("z") - var("r") * cos("theta")],
        velocities=slip[:2], start={"z": 0.5, "theta": 0.3},
    )  # fmt: skip
    textbook = [
        "z = r*cos(theta)",
        "dz = -r*sin(theta)*dtheta",
        "V = m*g*r*cos(theta)",
        # lean: (I + m r²) θ̈ + (J + m r² − I) sin cos ψ̇² … for a disk with spin φ̇ (Routh, 1905, art. 242)
        "(I + m*r^2)*ddtheta = m*g*r*sin(theta) + I*sin(theta)*cos(theta)*(-dpsi^2)"
        " + (J + m*r^2)*cos(theta)*dpsi*(dphi + dpsi*sin(theta)) + tau5",
    ]
    return Subject(
        "rolling-disk", lw.gallery("rolling-disk"), reference, textbook[:3], withheld=ROWS
    )


def sharp_edged_disk() -> Subject:
    plates = turn((0, 1, 0), "beta")
    B = RefBody("B", plates, ZERO, (lump(1, (0, 0, 0), ("IB", "IB", "IB")),))
    place = apply(plates, vector(("q1", "q2", 0)))
    R = RefBody("R", compose(plates, turn(Z, "q3")), place, (lump("m1"), lump("m2", ("l", 0, 0))))
    numbers = values(m1=2, m2=1, l=0.5, omega=3, IB=0.4, g=9.81)
    edge = cos("q3") * var("dq2") - sin("q3") * var("dq1") + var("l") * var("dq3")
    reference = Reference(
        ["beta", "q1", "q2", "q3"], [B, R], numbers, down(), velocities=[edge],
        positions=[var("beta") - var("omega") * var("t")], start={"q1": 0.4, "q2": 0.2, "q3": 0.5, "beta": 0.9},
    )  # fmt: skip
    textbook = [  # the knife edge of Agrawal (1988); Lagrangian derivatives by hand
        "dq1*sin(q3) - dq2*cos(q3) = l*dq3",
        "dbeta = omega",
        "L_q1 = omega^2*((m1 + m2)*q1 + m2*l*cos(q3))",
        "V_q2 = (m1 + m2)*g",
        "V = (m1 + m2)*g*q2 + m2*g*l*sin(q3)",
    ]
    return Subject(
        "sharp-edged-disk", lw.gallery("sharp-edged-disk"), reference, textbook, withheld=ROWS
    )


def stanford_rrp() -> Subject:
    R1 = turn(Z, "theta1")
    one = RefBody("link1", R1, ZERO, (lump("m1", (0, 0, 0), _gyration(1)),))
    R2 = compose(compose(R1, quarter("x")), turn(Z, "theta2"))
    p2 = vector((0, 0, "d1"))
    two = RefBody("link2", R2, p2, (lump("m2", (0, 0, var("d2") - var("g2")), _gyration(2)),))
    R3 = compose(R2, quarter("x"))
    p3 = plus(two.at((0, 0, "d2")), apply(R3, vector((0, 0, "s3"))))
    three = RefBody("link3", R3, p3, (lump("m3", (0, 0, 0), _gyration(3)),))
    numbers = values(m1=9, m2=5, m3=4, d1=0.4, d2=0.15, g2=0.05, k11=0.2, k13=0.15, k21=0.12, k23=0.1, k31=0.3, k33=0.05)  # fmt: skip
    reference = Reference(["theta1", "theta2", "s3"], [one, two, three], numbers)
    return Subject(
        "stanford-rrp",
        lw.gallery("stanford-rrp"),
        reference,
        ["M33 = m3", "p3 = m3*ds3 - m3*d2*sin(theta2)*dtheta1"][:1],
    )


def _gyration(i: int) -> list[Poly]:
    a, b = (var(f"m{i}") * var(f"k{i}{j}") ** 2 for j in (1, 3))
    return [a, a, b]


def chain_3() -> Subject:
    bodies: list[RefBody] = []
    numbers: dict[str, Fraction | str] = {}
    at = ZERO
    for i in (1, 2, 3):
        angle = {f"q{k}": 1 for k in range(1, i + 1)}
        bodies.append(rod(f"link{i}", angle, at, f"m{i}", f"lc{i}", f"I{i}"))
        at = bodies[-1].at((f"l{i}", 0, 0))
        numbers |= {f"m{i}": F(1), f"l{i}": F(1), f"lc{i}": f"l{i}/2", f"I{i}": f"m{i}*l{i}^2/12"}
    reference = Reference(["q1", "q2", "q3"], bodies, {**numbers, "g": F("9.81")}, down())
    return Subject(
        "chain-3", lw.gallery("chain-3"), reference, ["phi3 = m3*lc3*g*cos(q1 + q2 + q3)"]
    )


def car() -> Subject:
    chassis = RefBody(
        "chassis", turn(Z, "theta"), vector(("x", "y", 0)), (lump("m", ("a", 0, 0), (0, 0, "I")),)
    )
    steered = RefBody("steered", turn(Z, {"theta": 1, "delta": 1}), chassis.at(("l", 0, 0)), (lump("mf", (0, 0, 0), (0, 0, "If")),))  # fmt: skip
    numbers = values(m=1200, I=1500, a=1.2, l=2.6, mf=60, If=4)
    both = {"theta": 1, "delta": 1}
    edges = [
        cos("theta") * var("dy") - sin("theta") * var("dx"),
        cos(both) * var("dy") - sin(both) * var("dx") + var("l") * cos("delta") * var("dtheta"),
    ]
    reference = Reference(
        ["x", "y", "theta", "delta"], [chassis, steered], numbers, velocities=edges
    )
    textbook = ["dx*sin(theta) = dy*cos(theta)", "l*dtheta*cos(delta) = (dx*cos(theta) + dy*sin(theta))*sin(delta)"]  # fmt: skip
    return Subject("car", lw.gallery("car"), reference, textbook, withheld=ROWS)


def trolley_trailers() -> Subject:
    first = RefBody(
        "trolley",
        turn(Z, "theta0"),
        vector(("x", "y", 0)),
        (lump("m0", ("a0", 0, 0), (0, 0, "I0")),),
    )
    bodies, edges = [first], [cos("theta0") * var("dy") - sin("theta0") * var("dx")]
    at = first.at((-var("b0"), 0, 0))
    numbers = values(m0=20, m1=12, m2=8, I0=1.5, I1=0.9, I2=0.6, a0=0.1, a1=0.15, a2=0.1, b0=0.3, b1=0.25, l1=0.9, l2=0.7)  # fmt: skip
    coordinates = ["x", "y", "theta0", "theta1", "theta2"]
    plain = Reference(coordinates, [], numbers)
    for i in (1, 2):
        angle = f"theta{i}"
        body = RefBody(f"trailer{i}", turn(Z, angle), at, (lump(f"m{i}", (var(f"a{i}") - var(f"l{i}"), 0, 0), (0, 0, f"I{i}")),))  # fmt: skip
        v = plain.rates_of(body.at((-var(f"l{i}"), 0, 0)))
        edges.append(cos(angle) * v[1] - sin(angle) * v[0])
        at = body.at((-var(f"l{i}") - var("b1"), 0, 0))
        bodies.append(body)
    reference = Reference(coordinates, bodies, numbers, velocities=edges)
    return Subject(
        "trolley-trailers",
        lw.gallery("trolley-trailers"),
        reference,
        ["dx*sin(theta0) = dy*cos(theta0)"],
        withheld=ROWS,
    )


BUILDERS: dict[str, Callable[[], Subject]] = {
    "elbow": elbow, "cartesian": cartesian, "remote-elbow": remote_elbow, "triple-pendulum": triple_pendulum,
    "cart-pole": cart_pole, "four-bar": four_bar, "slider-crank": slider_crank, "five-bar": five_bar,
    "rolling-disk": rolling_disk, "sharp-edged-disk": sharp_edged_disk, "stanford-rrp": stanford_rrp,
    "chain-3": chain_3, "car": car, "trolley-trailers": trolley_trailers,
}  # fmt: skip


@cache
def gallery_subject(name: str) -> Subject:
    return BUILDERS[name]()
