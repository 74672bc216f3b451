"""Key frames of a film: joint coordinates and their rates, as dense in time as the eye needs.

The page interpolates joint coordinates by cubics and places the links one after the other, so the
joints of the tree cannot open. Key frames are added where a cubic would put some point of a link
more than a fraction of a pixel from its place; so loops stay closed on the screen too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypedDict

import casadi as ca
import numpy as np

from ..kinematics.recursions import link_displacements, link_poses
from ..kinematics.tree_coordinates import spread_coordinates
from ..types import Floats
from .glyphs import GROUND_LINK, Glyph, drawn_matrix, drawn_point
from .run_interpolation import film_hermite_cubic, interpolate_film_coordinates

if TYPE_CHECKING:
    from ..simulation.kinematic_motion import Kinematics
    from ..simulation.run import Run
    from .mechanism_scene import Scene
    from .traced_points import TracedPoint


CANVAS_WIDTH, CANVAS_HEIGHT, CANVAS_BORDER = 644.0, 402.0, 24.0
"""The page's canvas at its widest, and the border around the drawing, CSS pixels."""
PIXEL_TOLERANCE = 0.15
"""The greatest error of a point, pixels: less than one also at a zoom of four."""
_MAX_FILM_NUMBERS = 400_000
"""The most numbers in all key frames together: some 3 MB of text. A film that needs more is less
exact."""
_CHECKS_PER_INTERVAL, _MAX_HALVINGS = 8, 14
"""Parts of an interval at whose ends it is checked; how often it is halved at most."""


class KeyFrameData(TypedDict):
    """Key frames as the page reads them: times, joint coordinates and their rates."""

    times: list[float]
    joints: list[list[float]]
    rates: list[list[float]]


@dataclass(frozen=True)
class KeyFrames:
    """Joint coordinates of the whole tree, and their rates, at increasing times."""

    times: Floats
    joint_coordinates: Floats
    coordinate_rates: Floats
    meters_per_pixel: float
    """The metres that a pixel shows."""
    error_pixels: float
    """The greatest error of a point between key frames, pixels."""

    def film_page_frames(self) -> KeyFrameData:
        """The key frames as the page reads them, with no more digits than can be seen."""
        spans, unit = np.diff(self.times), min(1e-6, 1e-2 * self.meters_per_pixel)
        shortest, longest = float(spans.min(initial=1.0)), float(spans.max(initial=1e-9))
        return {
            "times": round_for_film_page(self.times, 1e-6 * shortest or 1e-9).tolist(),
            "joints": round_for_film_page(self.joint_coordinates, unit).tolist(),
            "rates": round_for_film_page(self.coordinate_rates, unit / longest).tolist(),
        }


def film_pixel_size(extent: Floats) -> float:
    """The metres that a pixel shows when the page is at its widest, without zoom."""
    return float(
        max(extent[0] / (CANVAS_WIDTH - CANVAS_BORDER), extent[1] / (CANVAS_HEIGHT - CANVAS_BORDER))
    )


def round_for_film_page(values: Floats, unit: float) -> Floats:
    """The values, rounded to the power of ten at or below a unit."""
    digits = max(0, int(np.ceil(-np.log10(unit))))
    return np.round(values, digits) + 0.0


def film_link_data(scene: Scene) -> list[dict[str, object]]:
    """How each link follows from its parent: the frame of its motion (position, quaternion), the
    kind of motion, the index of its first coordinate, and constant offsets."""
    return [
        {
            "parent": link.parent,
            "kind": link.kind.value,
            "q": link.q,
            "at": [*drawn_point(link.p).tolist(), *_film_quaternion(drawn_matrix(link.R))],
            "offset": link.offset,
            "shift": float(link.shift),
            "pitch": float(link.pitch),
        }
        for link in scene.tree.links
    ]


def _film_quaternion(R: Floats) -> list[float]:
    """The quaternion (w, x, y, z) of a rotation."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(R).as_quat()
    return [float(w), float(x), float(y), float(z)]


def choose_key_frames(
    scene: Scene,
    run: Run | Kinematics,
    shapes: Sequence[Glyph],
    points: Sequence[TracedPoint],
    pixel: float,
) -> KeyFrames:
    """Key frames that place all glyphs and traced points within `PIXEL_TOLERANCE` pixels."""
    track = _FilmTrack(scene, run, _drawn_link_box_corners(scene, shapes, points))
    most = max(2, _MAX_FILM_NUMBERS // (2 * track.coordinate_count))
    if len(run.t) < 2:
        times, error = np.array([run.t[0], run.t[0]]), 0.0
    else:
        times, error = _refine_key_frame_times(
            track, _first_key_frame_times(run.t), PIXEL_TOLERANCE * pixel, most
        )
    return KeyFrames(
        times, track.joint_coordinates(times), track.coordinate_rates(times), pixel, error / pixel
    )


def _first_key_frame_times(t: Floats) -> Floats:
    """One in `_CHECKS_PER_INTERVAL` of the run's samples: the checks between them then meet all
    others."""
    return np.unique([*t[::_CHECKS_PER_INTERVAL], t[-1]])


def _refine_key_frame_times(
    track: _FilmTrack, times: Floats, tolerance: float, most: int
) -> tuple[Floats, float]:
    """Halves the intervals whose interpolation error exceeds the tolerance, until none does or
    there are too many; returns the times and the largest error, m."""
    doubtful = np.ones(len(times) - 1, dtype=bool)
    for _ in range(_MAX_HALVINGS):
        left, right = times[:-1][doubtful], times[1:][doubtful]
        errors = track.interpolation_errors(left, right)
        strays = errors > tolerance
        if not strays.any() or len(times) + strays.sum() > most:
            break
        halves = (left[strays] + right[strays]) / 2
        times = np.sort(np.concatenate([times, halves]))
        doubtful = np.isin(times[:-1], halves) | np.isin(times[1:], halves)
    return times, max(float(errors.max()), tolerance)


def _drawn_link_box_corners(
    scene: Scene, shapes: Sequence[Glyph], points: Sequence[TracedPoint]
) -> Floats:
    """The corners (links, 8, 3) of the box around all that is drawn of each link, in its own
    axes."""
    drawn: list[list[Floats]] = [[np.zeros((1, 3))] for _ in scene.tree.links]
    for link, many in [
        *((shape.link, shape.points) for shape in shapes),
        *((tie.links[k], tie.points[k][None]) for tie in scene.connector_glyphs for k in (0, 1)),
        *((point.link, point.point[None]) for point in points),
    ]:
        if link != GROUND_LINK:
            drawn[link].append(many)
    low = np.array([np.concatenate(one).min(axis=0) for one in drawn])
    high = np.array([np.concatenate(one).max(axis=0) for one in drawn])
    picks = np.indices((2, 2, 2)).reshape(3, 8).T.astype(bool)
    return np.where(picks[None], high[:, None], low[:, None])


class _FilmTrack:
    """A run in joint coordinates of the tree, and the errors of interpolated ones."""

    def __init__(self, scene: Scene, run: Run | Kinematics, corners: Floats) -> None:
        self.scene, self.run, self.corners = scene, run, corners
        self.spread_function, self.placement_function = _film_functions(scene)
        self.coordinate_count = self.spread_function.size1_out(0)
        self.difference_step = 0.02 * float(run.t[-1] - run.t[0]) / max(len(run.t) - 1, 1)

    def joint_coordinates(self, times: Floats) -> Floats:
        """The tree's joint coordinates (times, coordinates)."""
        q = interpolate_film_coordinates(self.scene, self.run, times)
        return np.asarray(self.spread_function(q.T, np.asarray(times)[None]), dtype=float).T

    def coordinate_rates(self, times: Floats) -> Floats:
        """The rates of the joint coordinates, by central differences (one-sided at both ends)."""
        before = np.maximum(times - self.difference_step, self.run.t[0])
        after = np.minimum(times + self.difference_step, self.run.t[-1])
        span = np.where(after > before, after - before, 1.0)[:, None]
        return (self.joint_coordinates(after) - self.joint_coordinates(before)) / span

    def interpolation_errors(self, left: Floats, right: Floats) -> Floats:
        """The largest error of points between each pair of key frames, m."""
        share = np.arange(1, _CHECKS_PER_INTERVAL) / _CHECKS_PER_INTERVAL
        times = left[:, None] + share * (right - left)[:, None]
        true, span = self.joint_coordinates(times.ravel()), (right - left)[:, None, None]
        values = (self.joint_coordinates(ends)[:, None] for ends in (left, right))
        slopes = (span * self.coordinate_rates(ends)[:, None] for ends in (left, right))
        shown = film_hermite_cubic(share[:, None], *values, *slopes)
        apart = self.corner_distances(true, shown.reshape(true.shape))
        return np.asarray(apart.reshape(times.shape).max(axis=1))

    def corner_distances(self, true: Floats, shown: Floats) -> Floats:
        """The largest distance between the corners at two sets of joint coordinates."""
        blocks = [slice(k, k + 2000) for k in range(0, len(true), 2000)]
        apart = (self.corners_at(true[block]) - self.corners_at(shown[block]) for block in blocks)
        return np.concatenate([np.linalg.norm(one, axis=-1).max(axis=(1, 2)) for one in apart])

    def corners_at(self, joints: Floats) -> Floats:
        """The corners (times, links, 8, 3) of the boxes of links in the world."""
        flat = np.asarray(self.placement_function(joints.T), dtype=float).T
        placed = flat.reshape(len(joints), -1, 3, 4)
        turned = np.einsum("tlij,lkj->tlki", placed[..., :3], self.corners)
        return np.asarray(turned + placed[:, :, None, :, 3])


@lru_cache(maxsize=16)
def _film_functions(scene: Scene) -> tuple[ca.Function, ca.Function]:
    """Functions for joint coordinates of the whole tree from the model's and time, and for link
    placements from those."""
    tree = scene.tree
    own = ca.densify(ca.SX(spread_coordinates(tree, tree.motion.q)))
    joints = ca.SX.sym("joints", own.numel())
    unit = _unit_film_quaternions(scene, joints)
    rows = [
        ca.horzcat(ca.SX(p.R), ca.SX(p.p)) for p in link_poses(tree, link_displacements(tree, unit))
    ]
    placed = ca.vertcat(*(ca.vec(row.T) for row in rows))
    spread = ca.Function("spread", [tree.motion.q, tree.motion.t], [own])
    return spread, ca.Function("place", [joints], [placed])


def _unit_film_quaternions(scene: Scene, joints: ca.SX) -> ca.SX:
    """Joint coordinates with quaternions scaled to unit length, as the page does."""
    unit = ca.SX(joints)
    for link in scene.tree.links:
        if link.kind.coordinate_count > 1:
            part = slice(link.coordinate_range.stop - 4, link.coordinate_range.stop)
            unit[part] = joints[part] / ca.norm_2(joints[part])
    return unit
