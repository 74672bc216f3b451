"""`make demo`: one arm from its file to its motion. Everything is written to out/.

The planar elbow arm of Spong and Vidyasagar: its equations are derived and written down, checked
against the book's formula and against laws of physics, and integrated; pictures show the motion.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import linkwright as lw

matplotlib.use("Agg")
import matplotlib.pyplot as plt

OUT = Path("out")
Array = NDArray[np.float64]


def write_equations() -> None:
    """The equations as text, LaTeX and a web page, by the command line."""
    for form, ending in (("text", "txt"), ("latex", "tex"), ("html", "html")):
        command = [sys.executable, "-m", "linkwright", "derive", "elbow", "--as", form]
        run = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
        (OUT / f"elbow.{ending}").write_text(run.stdout, encoding="utf-8")
    print((OUT / "elbow.txt").read_text(encoding="utf-8").split("\ncoriolis")[0])


def book_mass_matrix(q2: Array) -> Array:
    """d11, d12, d22 of the book's example 6.4.2 with the gallery's numbers."""
    m1 = m2 = l1 = 1.0
    lc1 = lc2 = 0.5
    I1 = I2 = 1 / 12
    d11 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * np.cos(q2)) + I1 + I2
    d12 = m2 * (lc2**2 + l1 * lc2 * np.cos(q2)) + I2
    d22 = np.full_like(q2, m2 * lc2**2 + I2)
    return np.moveaxis(np.array([[d11, d12], [d12, d22]]), -1, 0)


def check(model: lw.Model) -> None:
    """10 000 random states: the book's formula, there and back, skew symmetry."""
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-3, 3, (3, 10_000, 2))
    h = 1e-6
    rate = (model.mass_matrix(q + h * qd) - model.mass_matrix(q - h * qd)) / (2 * h)
    skew = rate - 2 * model.coriolis_matrix(q, qd)
    back = model.forward_dynamics(q, qd, model.inverse_dynamics(q, qd, qdd))
    errors = {
        "mass matrix − the book's": np.abs(model.mass_matrix(q) - book_mass_matrix(q[:, 1])).max(),
        "forward(inverse(q̈)) − q̈": np.abs(back - qdd).max(),
        "Ṁ − 2C, symmetric part": np.abs(skew + np.swapaxes(skew, 1, 2)).max(),
    }
    bounds = (1e-12, 1e-10, 1e-7)
    for (what, error), bound in zip(errors.items(), bounds, strict=True):
        print(f"  {what:26s} {error:.1e}  {'ok' if error < bound else 'FAILED'}")
        if not error < bound:
            sys.exit(1)


def simulate(model: lw.Model) -> tuple[Array, Array, Array]:
    """The arm falls from the horizontal, without friction, for five seconds."""

    def rates(t: float, x: Array) -> Array:
        q, qd = x[:2], x[2:]
        return np.concatenate([qd, model.forward_dynamics(q, qd, np.zeros(2))])

    run = solve_ivp(
        rates, (0, 5), np.zeros(4), method="DOP853", rtol=1e-10, atol=1e-12,
        t_eval=np.linspace(0, 5, 1001),
    )  # fmt: skip
    q, qd = run.y[:2].T, run.y[2:].T
    energy = model.kinetic_energy(q, qd) + model.potential_energy(q)
    drift = np.ptp(energy)
    print(f"  energy over 5 s changes by {drift:.1e} J  {'ok' if drift < 1e-7 else 'FAILED'}")
    if not drift < 1e-7:
        sys.exit(1)
    return run.t, q, qd


def draw(model: lw.Model, t: Array, q: Array, qd: Array) -> None:
    fig, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    for k, name in enumerate(model.q_names):
        axes[0].plot(t, np.degrees(q[:, k]), label=f"${name[0]}_{name[1]}$")
    axes[0].set(xlabel="time / s", ylabel="joint angle / °", title="Motion")
    kinetic, potential = model.kinetic_energy(q, qd), model.potential_energy(q)
    for energy, name in ((kinetic, "kinetic"), (potential, "potential"), (None, "total")):
        values = kinetic + potential if energy is None else energy
        axes[1].plot(t, values, label=name, ls="-" if energy is not None else "--")
    axes[1].set(xlabel="time / s", ylabel="energy / J", title="Energies")
    upto = q[: np.searchsorted(t, 1.2) : 10]
    elbow, tool = (model.placement(name)(upto)[:, :2, 3] for name in ("link2", "tool"))
    shades = plt.get_cmap("viridis")(np.linspace(0, 0.9, len(upto)))
    for a, b, shade in zip(elbow, tool, shades, strict=True):
        axes[2].plot([0, a[0], b[0]], [0, a[1], b[1]], "-o", color=shade, lw=1.2, ms=2.5)
    axes[2].set(xlabel="x / m", ylabel="y / m", title="The first 1.2 s, every 0.05 s")
    axes[2].set_aspect("equal")
    for axis in axes[:2]:
        axis.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False)
    for axis in axes:
        axis.grid(alpha=0.3)
    fig.savefig(OUT / "elbow.png", dpi=150)


def main() -> None:
    OUT.mkdir(exist_ok=True)
    write_equations()
    model = lw.compile(lw.gallery("elbow"))
    print("Checks on 10 000 random states")
    check(model)
    t, q, qd = simulate(model)
    draw(model, t, q, qd)
    print("\nWritten: " + ", ".join(str(path) for path in sorted(OUT.glob("elbow.*"))))


if __name__ == "__main__":
    main()
