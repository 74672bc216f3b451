"""Figures of cams: motions of followers, profiles, pressure angles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..linkages import CamMotion, CamProfile
from .figure_style import (
    COLUMN_WIDTH,
    GRAY_COLOR,
    INK_COLOR,
    draw_legend,
    draws_figure,
    line_color,
    new_figure,
)
from .history_plots import over_time
from .panels import HistoryLine, Panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PROFILE_HEIGHT, _ANGLE_HEIGHT = 80.0, 42.0
"""Heights of the profile and of the panel of pressure angles, mm."""


@draws_figure
def cam_motion_figure(
    motion: CamMotion,
    *,
    rate: float | None = None,
    unit: str = "m",
    width: float = COLUMN_WIDTH,
    path: str | Path | None = None,
) -> Figure:
    """Plot lift, velocity, acceleration and jerk of a follower over the cam angle.

    Parameters
    ----------
    motion : CamMotion
        The motion of the follower.
    rate : float, optional
        Speed of the cam, rad/s, at which the rates are shown (default: derivatives with respect to
        the cam angle).
    unit : str
        Unit of the lift: "m", or "rad" for a swinging follower.
    width, path : optional
        Width in mm, and the file to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        A matplotlib figure; dots are the values of the table.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwright as lw
    >>> turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    >>> motion = lw.linkages.cam_motion(turn, 0.01 * (1 - np.cos(turn)))
    >>> len(lw.show.cam_motion_figure(motion).axes)
    4
    """
    data = motion.data
    speed, per = (1.0, "rad") if rate is None else (rate, "s")
    panels = []
    for k, name in enumerate(("lift", "velocity", "acceleration", "jerk")):
        line = HistoryLine(name, name, np.asarray(data[name]) * speed**k)
        units = (unit, f"{unit}/{per}", f"{unit}/{per}²", f"{unit}/{per}³")
        panels.append(Panel(name, units[k], (line,)))
    figure = over_time(np.degrees(np.asarray(data["angle"])), panels, width)
    given = np.degrees(np.mod(motion.angles[:-1], 2 * np.pi))
    figure.axes[0].plot(given, motion.values[:-1], ".", color=INK_COLOR, ms=3)
    figure.axes[-1].set_xlabel("cam angle / °")
    return figure


@draws_figure
def cam_profile_figure(
    cam: CamProfile, *, width: float = COLUMN_WIDTH, path: str | Path | None = None
) -> Figure:
    """Draw the profile of a cam, and plot its pressure angle.

    Parameters
    ----------
    cam : CamProfile
        The cam.
    width, path : optional
        Width in mm, and the file to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        A matplotlib figure; undercut parts of the profile are orange.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwright as lw
    >>> turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    >>> motion = lw.linkages.cam_motion(turn, 0.01 * (1 - np.cos(turn)))
    >>> len(lw.show.cam_profile_figure(lw.linkages.roller_cam(motion, 0.03, 0.01)).axes)
    2
    """
    figure = new_figure(width, _PROFILE_HEIGHT + _ANGLE_HEIGHT)
    upper, lower = figure.subplots(2, 1, height_ratios=[_PROFILE_HEIGHT, _ANGLE_HEIGHT])
    upper.fill(*cam.profile.T, color=line_color(0), alpha=0.12, lw=0)
    upper.plot(*cam.profile.T, color=line_color(0), label="profile")
    if not np.allclose(cam.profile, cam.pitch_curve):
        upper.plot(*cam.pitch_curve.T, color=GRAY_COLOR, lw=0.8, ls="--", label="pitch curve")
    if cam.is_undercut:
        cut = np.where(cam.undercut[:, None], cam.profile, np.nan)
        upper.plot(*cut.T, color=line_color(1), lw=2, label="undercut")
    upper.plot(0, 0, "+", color=INK_COLOR, ms=6)
    upper.set_aspect("equal")
    upper.set_xlabel("x / m")
    upper.set_ylabel("y / m")
    draw_legend(upper)
    lower.plot(np.degrees(cam.angles), np.degrees(cam.pressure_angle), color=line_color(0))
    lower.axhline(0, color=INK_COLOR, lw=0.5)
    lower.margins(x=0)
    lower.set_xlabel("cam angle / °")
    lower.set_ylabel("pressure angle / °")
    return figure
