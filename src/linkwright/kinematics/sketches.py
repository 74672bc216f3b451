"""Sketches of constraints and forces: plain data, which `show` draws."""

from __future__ import annotations

from dataclasses import dataclass

from ..algebra.linear_algebra import Array, Scalar
from ..mechanism.joint_kinds import JointGlyph
from .kinematic_tree import LinkFrame


@dataclass(frozen=True)
class RodSketch:
    """A rod between the origins of two frames or bodies."""

    between: tuple[str, str]


@dataclass(frozen=True)
class WheelSketch:
    """A wheel about the origin of a frame or body; the axle is given in its axes."""

    at: str
    axle: Array
    radius: Scalar


@dataclass(frozen=True)
class EllipsoidSketch:
    """An ellipsoid about the origin of a frame or body, with semi-axes along its axes."""

    at: str
    semi_axes: tuple[Scalar, Scalar, Scalar]


@dataclass(frozen=True)
class BladeSketch:
    """A blade at the origin of a frame or body; the normal is given in its axes."""

    at: str
    normal: Array


@dataclass(frozen=True)
class SpringSketch:
    """A spring or a damper between the origins of two frames or bodies."""

    between: tuple[str, str]
    is_damper: bool = False


@dataclass(frozen=True)
class JointSketch:
    """Glyphs of a joint that closes a loop, at its frame `place`. `axis` and `axis2` are
    rotations against this frame whose z are the joint's axes. `slides_from` is the joint's frame
    in the link along which it slides."""

    glyphs: tuple[JointGlyph, ...]
    place: LinkFrame
    axis: Array
    axis2: Array
    slides_from: LinkFrame | None = None


Sketch = RodSketch | WheelSketch | EllipsoidSketch | BladeSketch | SpringSketch | JointSketch
