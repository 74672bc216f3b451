"""Profiles of plate cams for translating and swinging followers, with pressure angles.

The cam turns counter-clockwise by φ about the origin. The normal of the contact passes through the
instant centre of cam and follower, which lies on the line of centres (Kennedy); the pressure angle
is that between this normal and the velocity of the follower.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..conveniences import find_convenience
from ..displays import NotebookDisplayed
from ..errors import LinkwrightError
from ..number_checks import check_number, check_positive, check_whole_number
from ..types import Booleans, Floats
from .cam_motions import CamMotion
from .plane_vectors import plane_cross, quarter_turn

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class FollowerGeometry:
    """A follower over cam angles, in fixed axes, (n, 2) each: the `trace` point (the roller's
    centre) and its first two derivatives by φ, the instant `pole`, and the unit vector `way` of its
    velocity where it rises."""

    trace: Floats
    rate: Floats
    second_rate: Floats
    pole: Floats
    way: Floats


@dataclass(frozen=True, repr=False)
class CamProfile(NotebookDisplayed):
    """The profile of a plate cam.

    Attributes
    ----------
    motion : CamMotion
        The motion of the follower.
    follower : str
        The follower in words.
    angles : (n,) array
        Cam angles over a turn, rad.
    profile, pitch_curve : (n, 2) arrays
        Points of the profile and of the path of the follower's trace point, in axes fixed to the
        cam, m.
    pressure_angle : (n,) array
        Pressure angles, rad; of a centred follower positive while it rises.
    curvature_radius : (n,) array
        Radii of curvature of the profile, m: positive where it is convex.
    undercut : (n,) array of bool
        Where the profile cannot be made: the pitch curve has a smaller radius than the roller, or
        the profile of a flat-faced follower is not convex.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwright as lw
    >>> turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    >>> motion = lw.linkages.cam_motion(turn, 0.01 * (1 - np.cos(turn)))
    >>> cam = lw.linkages.roller_cam(motion, base_radius=0.03, roller_radius=0.01)
    >>> cam.is_undercut, cam.profile.shape == (len(cam.angles), 2)
    (False, True)
    """

    motion: CamMotion
    follower: str
    angles: Floats
    profile: Floats
    pitch_curve: Floats
    pressure_angle: Floats
    curvature_radius: Floats
    undercut: Booleans

    @property
    def is_undercut(self) -> bool:
        """Whether a part of the motion is lost."""
        return bool(self.undercut.any())

    @cached_property
    def data(self) -> xarray.Dataset:
        """The profile with names and units over the cam angle."""
        import xarray

        steps = ("angle", "axis")
        variables = {
            "profile": (steps, self.profile, {"units": "m"}),
            "pitch_curve": (steps, self.pitch_curve, {"units": "m"}),
            "pressure_angle": ("angle", self.pressure_angle, {"units": "rad"}),
            "curvature_radius": ("angle", self.curvature_radius, {"units": "m"}),
        }
        labels = {"angle": ("angle", self.angles, {"units": "rad"}), "axis": ["x", "y"]}
        return xarray.Dataset(variables, labels, {"follower": self.follower})

    def summary(self) -> str:
        """Return one line: the pressure angles, the smallest radius, and whether it is undercut."""
        k = int(np.argmax(np.abs(self.pressure_angle)))
        bends = self.curvature_radius[self.curvature_radius > 0]
        sharpest = f"{bends.min():.6g} m" if bends.size else "none"
        warning = "; UNDERCUT: use a larger base circle or a smaller roller"
        return (
            f"cam for a {self.follower}: pressure angle up to "
            f"{np.degrees(abs(self.pressure_angle[k])):.4g}° at {np.degrees(self.angles[k]):.4g}°, "
            f"smallest convex radius {sharpest}{warning if self.is_undercut else ''}"
        )

    def plot(self, path: str | Path | None = None, **options: object) -> Figure:
        """Return a figure of the profile and the pressure angle.

        It is written to `path`, if given; `options`: see `show.cam_profile_figure`.
        """
        figure: Figure = find_convenience("CamProfile.plot")(self, path=path, **options)
        return figure


def roller_cam(
    motion: CamMotion,
    base_radius: float,
    roller_radius: float = 0.0,
    offset: float = 0.0,
    *,
    samples: int = 721,
) -> CamProfile:
    """Return the profile of a cam for a translating follower with a roller or a point.

    Parameters
    ----------
    motion : CamMotion
        Lifts over the cam angle, m; the lift is counted from the base circle.
    base_radius, roller_radius : float
        Radii of the base circle and of the roller, m; a radius of 0 means a point.
    offset : float
        Distance of the follower's line (along y) from the cam's axis, toward x, m.
    samples : int
        Number of points over a turn.

    Returns
    -------
    CamProfile
        Profile, pressure angles and curvature; printed as text, drawn by `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwright as lw
    >>> turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    >>> motion = lw.linkages.cam_motion(turn, 0.01 * (1 - np.cos(turn)))
    >>> cam = lw.linkages.roller_cam(motion, base_radius=0.03, roller_radius=0.01)
    >>> float(np.degrees(cam.pressure_angle.max()).round(2))
    11.54
    """
    base, roller = check_positive(base_radius, "base_radius"), _roller(roller_radius)
    e, reach = check_number(offset, "offset"), base + roller
    if abs(e) >= reach:
        raise LinkwrightError(
            f"the offset {e:g} m is not inside the base circle and roller of {reach:g} m",
            remedy="give a smaller offset",
        )
    angles = np.linspace(0.0, 2 * np.pi, check_whole_number(samples, "samples", 8))
    s, v, a = (motion(angles, k) for k in range(3))
    zero = np.zeros_like(s)
    height = np.sqrt(reach**2 - e**2) + s
    geometry = FollowerGeometry(
        np.stack([zero + e, height], axis=-1),
        np.stack([zero, v], axis=-1),
        np.stack([zero, a], axis=-1),
        np.stack([v, zero], axis=-1),
        np.stack([zero, zero + 1.0], axis=-1),
    )
    kind = f"roller of {roller:g} m" if roller else "point"
    return _profile(motion, f"translating {kind}", angles, geometry, roller)


def swinging_cam(
    motion: CamMotion,
    base_radius: float,
    arm: float,
    distance: float,
    roller_radius: float = 0.0,
    *,
    samples: int = 721,
) -> CamProfile:
    """Return the profile of a cam for a swinging follower with a roller or a point.

    Parameters
    ----------
    motion : CamMotion
        Angles of the follower over the cam angle, rad, counted from the base circle outward.
    base_radius : float
        Radius of the base circle, m.
    arm, distance : float
        Length of the follower, and distance of its pin (on x) from the cam's axis, m.
    roller_radius : float
        Radius of the roller, m; 0 is a point.
    samples : int
        Number of points over a turn.

    Returns
    -------
    CamProfile
        Profile, pressure angles and curvature; printed as text, drawn by `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwright as lw
    >>> turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    >>> motion = lw.linkages.cam_motion(turn, 0.1 * (1 - np.cos(turn)))
    >>> cam = lw.linkages.swinging_cam(motion, 0.03, arm=0.06, distance=0.08)
    >>> cam.is_undercut
    False
    """
    base, roller = check_positive(base_radius, "base_radius"), _roller(roller_radius)
    arm, c = check_positive(arm, "arm"), check_positive(distance, "distance")
    cosine = (c**2 + arm**2 - (base + roller) ** 2) / (2 * c * arm)
    if abs(cosine) >= 1:
        raise LinkwrightError(
            f"a follower of {arm:g} m, {c:g} m from the cam's axis, cannot touch the base circle",
            remedy="change arm, distance or base_radius",
        )
    angles = np.linspace(0.0, 2 * np.pi, check_whole_number(samples, "samples", 8))
    swing, v, a = (motion(angles, k) for k in range(3))
    psi = np.arccos(cosine) + swing
    inward = np.stack([-np.cos(psi), np.sin(psi)], axis=-1)
    way = np.stack([np.sin(psi), np.cos(psi)], axis=-1)
    pole = np.stack([c * v / (1 + v), np.zeros_like(v)], axis=-1)
    geometry = FollowerGeometry(
        np.array([c, 0.0]) + arm * inward,
        arm * v[:, None] * way,
        arm * (a[:, None] * way - (v**2)[:, None] * inward),
        pole,
        way,
    )
    kind = f"roller of {roller:g} m" if roller else "point"
    return _profile(motion, f"swinging {kind}", angles, geometry, roller)


def flat_cam(motion: CamMotion, base_radius: float, *, samples: int = 721) -> CamProfile:
    """Return the profile of a cam for a translating follower with a flat face normal to its motion.

    Parameters
    ----------
    motion : CamMotion
        Lifts over the cam angle, m.
    base_radius : float
        Radius of the base circle, m.
    samples : int
        Number of points over a turn.

    Returns
    -------
    CamProfile
        Profile and curvature; the pressure angle is zero. The face must reach as far as the
        largest velocity of the motion at unit cam speed, m.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwright as lw
    >>> turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    >>> motion = lw.linkages.cam_motion(turn, 0.01 * (1 - np.cos(turn)))
    >>> lw.linkages.flat_cam(motion, 0.03).curvature_radius.round(6).max()
    np.float64(0.04)
    """
    base = check_positive(base_radius, "base_radius")
    angles = np.linspace(0.0, 2 * np.pi, check_whole_number(samples, "samples", 8))
    s, v, a = (motion(angles, k) for k in range(3))
    contact = _in_cam_axes(angles, np.stack([v, base + s], axis=-1))
    radius = base + s + a
    flat = np.zeros_like(s)
    return CamProfile(
        motion, "translating flat face", angles, contact, contact, flat, radius, radius <= 0
    )


def _roller(radius: float) -> float:
    """The radius of a roller, 0 for a point."""
    value = check_number(radius, "roller_radius")
    if value < 0:
        raise LinkwrightError(f"roller_radius cannot be {value:g}", remedy="give 0 or more, m")
    return value


def _in_cam_axes(angles: Floats, points: Floats) -> Floats:
    """Points in fixed axes, seen from the cam that has turned by φ."""
    cosine, sine = np.cos(angles)[:, None], np.sin(angles)[:, None]
    return np.asarray(cosine * points - sine * quarter_turn(points))


def _profile(
    motion: CamMotion, name: str, angles: Floats, follower: FollowerGeometry, roller: float
) -> CamProfile:
    """The profile that a roller envelops."""
    normal = follower.trace - follower.pole
    normal = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    pressure = np.arctan2(plane_cross(follower.way, normal), (follower.way * normal).sum(axis=1))
    first = follower.rate - quarter_turn(follower.trace)
    second = follower.second_rate - 2 * quarter_turn(follower.rate) - follower.trace
    bend = plane_cross(second, first)
    with np.errstate(divide="ignore"):
        pitch_radius = np.linalg.norm(first, axis=1) ** 3 / bend
    undercut = (pitch_radius > 0) & (pitch_radius <= roller)
    return CamProfile(
        motion,
        name,
        angles,
        _in_cam_axes(angles, follower.trace - roller * normal),
        _in_cam_axes(angles, follower.trace),
        pressure,
        pitch_radius - roller,
        undercut if roller else np.zeros(len(angles), dtype=bool),
    )
