"""What `linkwright cam` finds: motion of the follower and profile, as text, data and table."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..errors import LinkwrightError
from .cam_motions import CamMotion
from .cam_profiles import CamProfile


class CamFindings:
    """The motion and the profile, as lines, JSON and a table."""

    def __init__(
        self, motion: CamMotion, profile: CamProfile | None, rate: float, swings: bool
    ) -> None:
        self.motion, self.profile, self.rate = motion, profile, rate
        self.unit = "rad" if swings else "m"
        self.angles = (
            np.linspace(0.0, 2 * np.pi, 721) if profile is None else np.asarray(profile.angles)
        )
        self.rates = [motion(self.angles, k) * rate**k for k in range(4)]

    def lines(self) -> list[str]:
        """Return the findings as text."""
        lift, *_ = self.rates
        found = [
            f"{len(self.motion.angles) - 1} values, spline of degree {self.motion.degree}",
            f"lift          {lift.min():.6g} to {lift.max():.6g} {self.unit}",
        ]
        names = ("velocity", "acceleration", "jerk")
        for k, (name, values) in enumerate(zip(names, self.rates[1:], strict=True), 1):
            at = int(np.argmax(np.abs(values)))
            power = "/s" if k == 1 else f"/s^{k}"
            found.append(
                f"{name:13} up to {abs(values[at]):.6g} {self.unit}{power}, at "
                f"{np.degrees(self.angles[at]):.4g}°"
            )
        return found if self.profile is None else [*found, self.profile.summary()]

    def to_json(self) -> dict[str, object]:
        """Return the findings as data."""
        names = ("lift", "velocity", "acceleration", "jerk")
        found: dict[str, object] = {
            name: {"least": float(x.min()), "most": float(x.max())}
            for name, x in zip(names, self.rates, strict=True)
        }
        found |= {"unit": self.unit, "rate": self.rate}
        if self.profile is not None:
            found["profile"] = {
                "follower": self.profile.follower,
                "largest_pressure_angle": float(np.abs(self.profile.pressure_angle).max()),
                "is_undercut": self.profile.is_undercut,
            }
        return found

    def save(self, path: Path) -> None:
        """Write angle, lift, rates, and the points of the profile."""
        columns = {"angle (rad)": self.angles}
        endings = ("", "/s", "/s^2", "/s^3")
        names = ("lift", "velocity", "acceleration", "jerk")
        for name, ending, values in zip(names, endings, self.rates, strict=True):
            columns[f"{name} ({self.unit}{ending})"] = values
        if self.profile is not None:
            columns |= {
                "profile x (m)": self.profile.profile[:, 0],
                "profile y (m)": self.profile.profile[:, 1],
                "pressure angle (rad)": self.profile.pressure_angle,
            }
        rows = np.column_stack(list(columns.values()))
        text = [",".join(columns), *(",".join(repr(float(x)) for x in row) for row in rows)]
        try:
            path.write_text("\n".join(text) + "\n", encoding="utf-8")
        except OSError as error:
            raise LinkwrightError(f"{path} cannot be written: {error.strerror}") from None
