"""Two studies of a robot arm under control: which gains, and how certain is the result?

    python examples/studies.py out

writes the pictures of docs/reference/studies.md into the folder, as study-….svg (or another ending:
`python examples/studies.py out png`), and study.html, the page of the first study.
"""

from __future__ import annotations

import sys
from pathlib import Path

import linkwright as lw

TARGET = [0.8, -0.4]


def choose_gains(folder: Path, ending: str) -> dict[str, float]:
    """Vary the gains of a controller; among the fast designs take one with a small torque."""
    arm = lw.gallery("elbow")
    study = lw.study(
        arm,
        vary={"control.kp": "loguniform(40, 800)", "control.kd": "loguniform(4, 120)"},
        measure={
            "torque": "max(abs(tau))",
            "settling": "settling_time(q1, 0.02, 0.8)",
            "overshoot": "overshoot(q1, 0.8)",
        },
        control={"controller": "pd_gravity", "reference": TARGET, "kp": 200.0, "kd": 30.0},
        design="sobol",
        count=512,
        t=4.0,
        samples=401,
    )
    print(study, "\n")
    study.plot("torque", "settling", kind="pareto", path=folder / f"study-pareto.{ending}")
    study.plot("overshoot", kind="scatter", path=folder / f"study-scatter.{ending}")
    study.plot(kind="parallel", path=folder / f"study-parallel.{ending}")
    study.plot("overshoot", kind="surface", path=folder / f"study-surface.{ending}")
    study.report(folder / "study.html")
    front = study.pareto({"torque": "min", "settling": "min"})
    fast = [k for k in front if study.numbers("settling")[k] < 1.0]
    best = min(fast, key=lambda k: study.numbers("torque")[k])
    gains = study.factors_of(int(best))
    print(f"design {best}: {gains}, settles in {study.numbers('settling')[best]:.2f} s\n")
    return {"kp": float(gains["control.kp"]), "kd": float(gains["control.kd"])}


def judge_tolerances(folder: Path, ending: str, gains: dict[str, float]) -> None:
    """Vary masses and lengths about their nominal values: which of them matter?"""
    arm = lw.gallery("elbow")
    study = lw.study(
        arm,
        vary={"m1": (0.8, 1.2), "m2": (0.6, 1.4), "l1": (0.9, 1.1), "lc2": (0.4, 0.6)},
        measure={"angle": "q1", "end": "q1[-1]", "effort": "rms(tau1)"},
        control={"controller": "pd_gravity", "reference": TARGET, **gains},
        design="saltelli",
        count=256,
        t=2.0,
        samples=101,
    )
    print(study.sobol("end"), "\n")
    study.plot("end", kind="sobol", path=folder / f"study-sobol.{ending}")
    study.plot(kind="correlations", path=folder / f"study-correlations.{ending}")
    study.plot("angle", kind="bands", path=folder / f"study-bands.{ending}")
    for case in study.worst("effort", 2):
        print(f"design {case.design}: {case.value:.3f} N m, {case.run.status}")


def main(folder: Path, ending: str = "svg") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    judge_tolerances(folder, ending, choose_gains(folder, ending))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"), *sys.argv[2:3])
