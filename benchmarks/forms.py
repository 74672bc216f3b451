"""Closed forms, beside SymPy's Lagrangian and `trigsimp`: a section of `make bench`.

    python benchmarks/forms.py [--patience 20]

M, C and g with all parameters as symbols, as canonical polynomials: the reading of tapes alone,
and, beside SymPy, also with derivation and recording (`whole`). SymPy's figures are
`LagrangesMethod.form_lagranges_equations`, and `trigsimp` of M alone.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable
from typing import Any

import linkwright as lw
from linkwright.forms.generators import angles_of
from linkwright.forms.sources import record_source, source
from linkwright.readings.trig import read_trig

TARGETS = {"elbow": 0.005, "puma560": 0.050, "seven-axis": 0.5, "chain-10": 0.2}


def ours(name: str, seconds: float = 1.0) -> tuple[float, dict[str, int]]:
    """Best time for M, C and g together, and their terms."""
    mechanism = lw.gallery(name)
    eqs = lw.derive(mechanism)
    angles = angles_of(mechanism)
    tapes = {key: record_source(eqs, source(eqs, key)) for key in ("M", "C", "g")}
    least, end, readings = float("inf"), time.perf_counter() + seconds, {}
    while time.perf_counter() < end or not readings:
        start = time.perf_counter()
        readings = {key: read_trig(*tape, angles) for key, tape in tapes.items()}
        least = min(least, time.perf_counter() - start)
    terms = {
        key: sum(len(value.numerator) for values in reading.outputs.values() for value in values)
        for key, reading in readings.items()
    }
    return least, terms


def whole(name: str) -> float:
    """Best of three from the mechanism to the polynomials of M, C and g."""
    mechanism, least = lw.gallery(name), float("inf")
    for _ in range(3):
        start = time.perf_counter()
        eqs = lw.derive(mechanism)
        for key in ("M", "C", "g"):
            eqs.closed_form(key)
        least = min(least, time.perf_counter() - start)
    return least


def planar_chain(n: int) -> tuple[float, float]:
    """Seconds of SymPy for a planar chain of n links: Lagrange's equations, and trigsimp of M."""
    import sympy
    from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

    q = dynamicsymbols(f"q1:{n + 1}")
    t = dynamicsymbols._t
    m, length, lc, I = (sympy.symbols(f"{s}1:{n + 1}") for s in ("m", "l", "lc", "I"))  # noqa: E741
    g, x, y, angle, L = sympy.Symbol("g"), 0, 0, 0, 0
    for k in range(n):
        angle = angle + q[k]
        cx, cy = x + lc[k] * sympy.cos(angle), y + lc[k] * sympy.sin(angle)
        speed = sympy.diff(cx, t) ** 2 + sympy.diff(cy, t) ** 2
        L += m[k] * speed / 2 + I[k] * sympy.diff(angle, t) ** 2 / 2 - m[k] * g * cy
        x, y = x + length[k] * sympy.cos(angle), y + length[k] * sympy.sin(angle)
    start = time.perf_counter()
    method = LagrangesMethod(L, q)
    method.form_lagranges_equations()
    derived = time.perf_counter() - start
    start = time.perf_counter()
    sympy.trigsimp(method.mass_matrix)
    return derived, time.perf_counter() - start


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
    try:
        import sympy  # noqa: F401
    except ImportError:
        return "\n".join(lines)
    lines += [
        "",
        "| planar chain | ours, derivation included | SymPy: derivation | `trigsimp` of M |",
    ]
    lines.append("|---|---|---|---|")
    for n in (2, 3, 4):
        found = within(patience, planar_chain, n)
        both = [f"{x:.2f} s" for x in found] if found else [f"> {patience:.0f} s in all", ""]
        lines.append(f"| {n} links | {1e3 * whole(f'chain-{n}'):.0f} ms | {' | '.join(both)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patience", type=float, default=60.0, help="seconds for SymPy, each")
    print(report(parser.parse_args().patience))
