"""Closed forms, beside SymPy's Lagrange, Kane and `trigsimp`: a section of `make bench`.

    python benchmarks/forms.py [--patience 20]

M, C and g with all parameters as symbols, as canonical polynomials: the reading of tapes alone,
and, beside SymPy, also with derivation and recording (`whole`). SymPy's figures are
`LagrangesMethod.form_lagranges_equations` and `KanesMethod.kanes_equations`, which do not simplify,
and `trigsimp` of the mass matrix of each; Kane's also in absolute angles, in which the terms are
few as they come and nobody needs `trigsimp`. Processor time, the best of three runs of each where
one takes less than 5 s; ours and Kane's in absolute angles take turns in one process, twelve times
each, so that their ratio does not depend on who else uses the machine. The last table is the
same M, C and g from other formulations' equations, whose programs are longer; the polynomials are
the same.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable
from typing import Any

import linkwright as lw
from linkwright.algebra.exact.trig_polynomials import evaluate_tape_in_quotient_ring
from linkwright.forms.angle_choice import form_angles
from linkwright.forms.form_sources import find_form_source, record_form_source_tape
from linkwright.formulations import derive_uncached

MOST_LINKS = 4
"""Beyond, SymPy takes minutes in joint angles."""
PRINTING_TARGETS = {
    ("puma560", "C"): 0.3,
    ("six-axis", "C"): 0.5,
    ("stewart", "C"): 0.1,
    ("chain-6", "C"): 0.15,
}
TARGETS = {"elbow": 0.005, "puma560": 0.050, "seven-axis": 0.5, "chain-10": 0.2}


def ours(name: str, by: str = "recursive", seconds: float = 1.0) -> tuple[float, dict[str, int]]:
    """Best time for M, C and g together, and their terms."""
    mechanism = lw.gallery(name)
    eqs = lw.derive(mechanism, by=by)
    angles = form_angles(mechanism)
    tapes = {
        key: record_form_source_tape(eqs, find_form_source(eqs, key)) for key in ("M", "C", "g")
    }
    least, end, readings = float("inf"), time.perf_counter() + seconds, {}
    while time.perf_counter() < end or not readings:
        start = time.perf_counter()
        readings = {
            key: evaluate_tape_in_quotient_ring(*tape, angles) for key, tape in tapes.items()
        }
        least = min(least, time.perf_counter() - start)
    terms = {
        key: sum(len(value.numerator) for values in reading.outputs.values() for value in values)
        for key, reading in readings.items()
    }
    return least, terms


def printing(name: str, quantity: str) -> tuple[float, int]:
    """Processor seconds for the text of a closed form, the best of five runs, and its length."""
    form = lw.derive(lw.gallery(name)).closed_form(quantity)
    return min((seconds(form.text), len(form.text())) for _ in range(5))


def whole(name: str) -> None:
    """From the mechanism to the polynomials of M, C and g."""
    eqs = derive_uncached(lw.gallery(name))
    for key in ("M", "C", "g"):
        eqs.closed_form(key)


def best(work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of the best of three runs, or of the only one if it is long; its result."""
    least = float("inf")
    for _ in range(3):
        start = time.process_time()
        result = work()
        least = min(least, time.process_time() - start)
        if least > 5:
            break
    return least, result


def symbols_of(n: int) -> tuple[Any, ...]:
    """Coordinates, masses, lengths, distances of centres of mass and inertias of n links, and g."""
    import sympy
    from sympy.physics.mechanics import dynamicsymbols

    numbers = (sympy.symbols(f"{s}1:{n + 1}") for s in ("m", "l", "lc", "I"))
    return (dynamicsymbols(f"q1:{n + 1}"), *numbers, sympy.Symbol("g"))


def by_lagrange(n: int) -> tuple[float, float]:
    """Seconds of SymPy for a planar chain of n links: Lagrange's equations, and trigsimp of M."""
    return _with_trigsimp(lambda: lagrange(n))


def lagrange(n: int) -> Any:
    import sympy
    from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

    q, m, length, lc, inertia, g = symbols_of(n)
    t, x, y, angle, L = dynamicsymbols._t, 0, 0, 0, 0
    for k in range(n):
        angle = angle + q[k]
        cx, cy = x + lc[k] * sympy.cos(angle), y + lc[k] * sympy.sin(angle)
        speed = sympy.diff(cx, t) ** 2 + sympy.diff(cy, t) ** 2
        L += m[k] * speed / 2 + inertia[k] * sympy.diff(angle, t) ** 2 / 2 - m[k] * g * cy
        x, y = x + length[k] * sympy.cos(angle), y + length[k] * sympy.sin(angle)
    method = LagrangesMethod(L, q)
    method.form_lagranges_equations()
    return method


def by_kane(n: int) -> tuple[float, float]:
    """The same by Kane's equations, the speeds being the rates of the joints."""
    return _with_trigsimp(lambda: kane(n, absolute=False))


def ours_and_kane_in_absolute_angles(n: int) -> tuple[float, float]:
    """The best of twelve turns: ours, and Kane's equations alone, the coordinates being the links'
    angles from ground."""
    turns = [
        (seconds(lambda: whole(f"chain-{n}")), seconds(lambda: kane(n, absolute=True)))
        for _ in range(12)
    ]
    own, kanes = zip(*turns, strict=True)
    return min(own), min(kanes)


def seconds(work: Callable[[], Any]) -> float:
    """Processor seconds of one run."""
    start = time.process_time()
    work()
    return time.process_time() - start


def kane(n: int, absolute: bool) -> Any:
    from sympy.physics import mechanics as me

    q, m, length, lc, inertia, g = symbols_of(n)
    u = me.dynamicsymbols(f"u1:{n + 1}")
    ground, at = me.ReferenceFrame("N"), me.Point("O")
    at.set_vel(ground, 0)
    frame, bodies, loads = ground, [], []
    for k in range(n):
        before = ground if absolute else frame
        turned = before.orientnew(f"A{k}", "Axis", [q[k], ground.z])
        turned.set_ang_vel(before, u[k] * ground.z)
        center, tip = (
            at.locatenew(f"P{k}{x}", d[k] * turned.x) for x, d in (("c", lc), ("t", length))
        )
        for point in (center, tip):
            point.v2pt_theory(at, ground, turned)
        tensor = (me.inertia(turned, 0, 0, inertia[k]), center)
        bodies.append(me.RigidBody(f"B{k}", center, turned, m[k], tensor))
        loads.append((center, -m[k] * g * ground.y))
        frame, at = turned, tip
    rates = [a - b.diff(me.dynamicsymbols._t) for a, b in zip(u, q, strict=True)]
    method = me.KanesMethod(ground, q_ind=q, u_ind=u, kd_eqs=rates)
    method.kanes_equations(bodies, loads)
    return method


def _with_trigsimp(derive: Callable[[], Any]) -> tuple[float, float]:
    import sympy

    derived, method = best(derive)
    start = time.process_time()
    sympy.trigsimp(method.mass_matrix)
    return derived, time.process_time() - start


def _child(result: Any, work: Callable[..., Any], argument: int) -> None:
    result.put(work(argument))


def within(patience: float, work: Callable[..., Any], argument: int) -> Any:
    """The result of work in a process of its own, or None if it takes longer."""
    result: Any = multiprocessing.Queue()
    process = multiprocessing.Process(target=_child, args=(result, work, argument))
    process.start()
    try:
        return result.get(timeout=patience)
    except Exception:
        return None
    finally:
        process.terminate()
        process.join()


def report(patience: float) -> str:
    lines = [
        "| closed forms, all symbols | M, C, g | target | terms of M, C, g |",
        "|---|---|---|---|",
    ]
    for name, target in TARGETS.items():
        seconds, terms = ours(name)
        counts = ", ".join(str(n) for n in terms.values())
        lines.append(f"| {name} | {1e3 * seconds:.1f} ms | {1e3 * target:.0f} ms | {counts} |")
    lines += ["", "| printing as text | time | target | characters |", "|---|---|---|---|"]
    for (name, quantity), target in PRINTING_TARGETS.items():
        taken, length = printing(name, quantity)
        lines.append(
            f"| {quantity} of {name} | {1e3 * taken:.0f} ms | {1e3 * target:.0f} ms | {length} |"
        )
    try:
        import sympy  # noqa: F401
    except ImportError:
        return "\n".join(lines)
    lines += [
        "",
        "| planar chain | ours, derivation included | SymPy: Lagrange | `trigsimp` of M "
        "| SymPy: Kane | `trigsimp` of M | SymPy: Kane, absolute angles | share of our time |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for n in (2, 3, 4, 6):
        own, least = within(6 * patience, ours_and_kane_in_absolute_angles, n) or [float("nan")] * 2
        cells = [f"{n} links", f"{1e3 * own:.0f} ms"]
        for work in (by_lagrange, by_kane):
            found = within(patience, work, n) if n <= MOST_LINKS else ()
            late = "" if found == () else f"> {patience:.0f} s in all"
            cells += [f"{x:.2f} s" for x in found] if found else [late, ""]
        cells += [f"{1e3 * least:.0f} ms", f"{least / own:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "| from equations by | recursive | kane | lagrange |", "|---|---|---|---|"]
    for name in ("puma560", "seven-axis"):
        times = [f"{1e3 * ours(name, by)[0]:.1f} ms" for by in ("recursive", "kane", "lagrange")]
        lines.append(f"| {name} | {' | '.join(times)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patience", type=float, default=60.0, help="seconds for SymPy, each")
    print(report(parser.parse_args().patience))
