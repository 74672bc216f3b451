"""What `linkwright linkage` finds: as text, as JSON, as pictures and as files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import LinkwrightError, UnsupportedError

if TYPE_CHECKING:
    from ...linkages import (
        CouplerCurve,
        ForceBalance,
        InstantCenters,
        LinkageAnalysis,
        MomentBalance,
        ShakingForces,
        SliderCrankBalance,
    )
    from ...mechanism import Mechanism
    from ...types import Floats


@dataclass(frozen=True)
class PictureFiles:
    """Files of pictures: ratios, instant centres, coupler curve, shaking force."""

    ratios: Path | None
    centers: Path | None
    curve: Path | None
    shaking: Path | None


@dataclass(frozen=True)
class BalancedLinkage:
    """Counterweights, and the shaking force with them."""

    weights: ForceBalance | SliderCrankBalance | MomentBalance
    shaking: ShakingForces | str


@dataclass(frozen=True)
class LinkageChoice:
    """A linkage, its input, the sweep and the branch."""

    mechanism: Mechanism
    input: str | None
    over: tuple[float, float] | None
    rough: Mapping[str, float]
    samples: int

    def coupler_curve(self, point: str | tuple[str, tuple[float, ...]]) -> CouplerCurve:
        """Return the curve of a point."""
        from ... import linkages

        return linkages.coupler_curve(
            self.mechanism,
            point,
            self.input,
            over=self.over,
            rough=self.rough,
            samples=self.samples,
        )

    def shaking(self, mechanism: Mechanism, rate: float) -> ShakingForces | str:
        """Return the shaking force of the linkage, or of its balanced form, over a cycle; or why
        there is none."""
        from ... import linkages

        try:
            return linkages.shaking_forces(
                mechanism, input=self.input, speed=rate, rough=self.rough, samples=self.samples
            )
        except UnsupportedError as error:
            return f"no shaking force: {error.what}"

    def balance(
        self, radius: float, share: float | None, rate: float, disk_radius: float | None
    ) -> BalancedLinkage:
        """Return counterweights at a radius from their pins; with a radius of disks, also what
        balances the moment."""
        from ... import linkages

        found: ForceBalance | SliderCrankBalance | MomentBalance
        if disk_radius is not None:
            found = linkages.balance_moments(
                self.mechanism, radius, disk_radius=disk_radius, input=self.input, rough=self.rough
            )
        elif share is not None:
            found = linkages.balance_slider_crank(self.mechanism, radius, share)
        else:
            found = linkages.balance_forces(
                self.mechanism, radius, input=self.input, rough=self.rough
            )
        return BalancedLinkage(found, self.shaking(found.mechanism, rate))


@dataclass(frozen=True)
class LinkageFindings:
    """Everything that was asked of a linkage."""

    analysis: LinkageAnalysis
    centers: InstantCenters
    shaking: ShakingForces | str
    curve: CouplerCurve | None = None
    balance: BalancedLinkage | None = None

    @classmethod
    def find(
        cls,
        choice: LinkageChoice,
        output: str | None,
        position: dict[str, float] | None,
        rate: float,
    ) -> LinkageFindings:
        """Return what is always found: ratios, instant centres, shaking force."""
        from ... import linkages

        analysis = linkages.analyze_linkage(
            choice.mechanism,
            choice.input,
            output,
            over=choice.over,
            rough=choice.rough,
            samples=choice.samples,
        )
        centers = linkages.instant_centers(choice.mechanism, position)
        return cls(analysis, centers, choice.shaking(choice.mechanism, rate))

    def lines(self) -> list[str]:
        """Return the findings as lines of text."""
        found = [str(self.analysis), "", str(self.centers), "", str(self.shaking)]
        if self.curve is not None:
            found.append(self.curve.summary())
        if self.balance is not None:
            found += ["", str(self.balance.weights), f"balanced: {self.balance.shaking}"]
        return found

    def to_json(self) -> dict[str, object]:
        """Return the findings as data for `--json`."""
        analysis = self.analysis
        found: dict[str, Any] = {
            "input": analysis.input,
            "output": analysis.output,
            "classes": [
                {"links": one.links, "name": one.name, "code": one.code, "margin": one.margin}
                for one in analysis.classes
            ],
            "makes_full_turns": None if analysis.range is None else analysis.range.makes_full_turns,
            "range": [float(analysis.input_values[0]), float(analysis.input_values[-1])],
            "velocity_ratio": _range_of(analysis.velocity_ratio),
            "acceleration_ratio": _range_of(analysis.acceleration_ratio),
            "least_mechanical_advantage": float(abs(analysis.mechanical_advantage).min()),
            "transmission_angle": None
            if analysis.transmission.angles is None
            else _range_of(analysis.transmission.angles),
            "dead_centers": [
                {"kind": one.kind, "of": list(one.what), "q": one.q.tolist()}
                for one in analysis.dead_centers
            ],
            "instant_centers": [
                {"links": list(one.links), "kind": one.kind, "place": _finite_list(one.point)}
                for one in self.centers.centers
            ],
            "shaking": _shaking_json(self.shaking),
        }
        if self.curve is not None:
            found["curve"] = {"length": self.curve.length, "is_closed": self.curve.is_closed}
        if self.balance is not None:
            found["balance"] = _balance_json(self.balance)
        return found

    def draw(self, files: PictureFiles) -> list[str]:
        """Draw the pictures, and return the names of their files."""
        pairs = (
            (self.analysis, files.ratios),
            (self.centers, files.centers),
            (self.curve, files.curve),
            (self.shaking if self.balance is None else self.balance.shaking, files.shaking),
        )
        drawn = []
        for result, path in pairs:
            if isinstance(result, str) and path is not None:
                raise LinkwrightError(result, remedy="leave --plot-shaking out")
            if result is not None and not isinstance(result, str) and path is not None:
                result.plot(path)
                drawn.append(str(path))
        return drawn

    def save(self, path: Path) -> None:
        """Save the balanced mechanism, or the motion over the input."""
        if self.balance is None:
            self.analysis.motion.save(path)
            return
        from ...writers import save

        save(self.balance.weights.mechanism, path)


def _range_of(values: Floats) -> list[float]:
    return [float(values.min()), float(values.max())]


def _finite_list(point: Floats) -> list[float] | None:
    numbers: list[float] = point.tolist()
    return numbers if all(map(isfinite, numbers)) else None


def _shaking_json(shaking: ShakingForces | str) -> dict[str, float] | None:
    if isinstance(shaking, str):
        return None
    return {"largest_force": shaking.largest_force, "largest_moment": shaking.largest_moment}


def _balance_json(balance: BalancedLinkage) -> dict[str, Any]:
    """Counterweights and what they leave."""
    every = balance.weights.counterweights
    disks = getattr(balance.weights, "disks", ())
    return {
        "counterweights": [
            {"body": one.body, "mass": one.mass, "center": list(one.center)} for one in every
        ],
        "disks": [
            {"body": one.body, "inertia": one.inertia, "mass": one.mass, "ratio": one.ratio}
            for one in disks
        ],
        "shaking": _shaking_json(balance.shaking),
    }
