"""All facts about the kinds of joints: one row for each kind, at the end of this file.

Nothing else in the package knows the name of a kind. Kinematics builds motions and loop closures
from the rows, readers and writers of files take the names of the formats from them, and pictures
draw the glyphs that they name. docs/extend/joint.md adds a row, step by step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ..expressions import ONE, ZERO
from .parts import Vector

X_AXIS: Vector = (ONE, ZERO, ZERO)
Y_AXIS: Vector = (ZERO, ONE, ZERO)
Z_AXIS: Vector = (ZERO, ZERO, ONE)

MotionDirection = Literal["axis", "axis2", "x", "y", "z", ""]


@dataclass(frozen=True, slots=True)
class DegreeOfFreedom:
    """One degree of freedom of a joint: the ending of its name, and whether it turns or slides."""

    ending: str
    is_rotation: bool


@dataclass(frozen=True, slots=True)
class JointKindMotion:
    """A turn, slide or screw about a direction, a ball (all turns), or a free body.

    `direction` is the joint's "axis" or "axis2", or "x", "y", "z" of the joint's frame; balls and
    free bodies have none. `ending` is the ending of the coordinate's name, empty if the joint has
    one coordinate.
    """

    type: Literal["turn", "slide", "screw", "ball", "free"]
    direction: MotionDirection = ""
    ending: str = ""

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Endings of the names of its coordinates."""
        return _COORDINATE_ENDINGS.get(self.type, (self.ending,))

    @property
    def dofs(self) -> tuple[DegreeOfFreedom, ...]:
        """Its degrees of freedom, one per generalized velocity."""
        return _DOFS_OF_MOTIONS.get(
            self.type, (DegreeOfFreedom(self.ending, self.type != "slide"),)
        )


_QUATERNION_ENDINGS = ("qw", "qx", "qy", "qz")
_COORDINATE_ENDINGS = {"ball": _QUATERNION_ENDINGS, "free": ("x", "y", "z", *_QUATERNION_ENDINGS)}
_ANGULAR_DOFS = tuple(DegreeOfFreedom(f"w{c}", True) for c in "xyz")
_LINEAR_DOFS = tuple(DegreeOfFreedom(f"v{c}", False) for c in "xyz")
_DOFS_OF_MOTIONS = {"ball": _ANGULAR_DOFS, "free": _ANGULAR_DOFS + _LINEAR_DOFS}


@dataclass(frozen=True, slots=True)
class SecondAxis:
    """What `axis2` means; `parallel_error` is the error and its remedy where it must not be
    parallel to `axis`."""

    meaning: str
    default: Vector
    parallel_error: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class JointKindClosure:
    """The quantities that a joint keeps constant where it closes a loop.

    `held_directions` names the directions along which the two origins stay together: a is the axis
    `about`, b and c are normal to it, all fixed in the parent or the child (`directions_in`).
    `orientation`: the `axis` of both bodies stays "parallel"; the bodies keep the "same"
    orientation; the "angle" between `axis` in the parent and `axis2` in the child is kept; or "any"
    is possible. A `screw` ties the slide along a to the turn.
    """

    held_directions: Literal["bca", "bc", "a"]
    orientation: Literal["parallel", "same", "angle", "any"]
    about: Literal["axis", "axis2"] = "axis"
    directions_in: Literal["parent", "child"] = "parent"
    is_screw: bool = False

    @property
    def row_count(self) -> int:
        """The number of equations; the first `len(held_directions)` are lengths, the others
        sines."""
        turns = {"parallel": 2, "same": 3, "angle": 1, "any": 0}[self.orientation]
        return len(self.held_directions) + turns + self.is_screw


@dataclass(frozen=True, slots=True)
class JointGlyph:
    """A solid of a joint's glyph in pictures, in units of the glyph's size: round for turns,
    square for slides. `size` is the radius (half the edge of a box), `half_length` is along
    `direction`."""

    shape: Literal["cylinder", "box", "ball"]
    size: float = 1.0
    half_length: float = 1.0
    direction: Literal["axis", "axis2"] = "axis"


@dataclass(frozen=True, slots=True)
class UrdfForm:
    """A joint in URDF: its type, the elements that are read, and the attributes of <limit>."""

    type: str
    elements: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()


@dataclass(frozen=True)
class JointKind:
    """All facts about one kind of joint.

    `motions` follow each other, each about a direction that the ones before have moved. Where
    there is a `quaternion_motion`, it takes their place unless `rotation = "cardan"`.
    `has_plane_frame`: x, y, z of the motions are those of the plane with normal `axis` and
    x along `axis2`. `is_floating`: the position of the child is free in at least a plane.
    `closure` is None where the joint restricts nothing. `urdf` and `mjcf` (the type of a joint),
    `mjcf_equality` (of an equality that closes a loop) are None where the format has no such joint;
    `sdf` has the types of SDF.
    """

    name: str
    motions: tuple[JointKindMotion, ...]
    closure: JointKindClosure | None
    glyphs: tuple[JointGlyph, ...] = ()
    quaternion_motion: JointKindMotion | None = None
    second_axis: SecondAxis | None = None
    has_plane_frame: bool = False
    is_floating: bool = False
    urdf: UrdfForm | None = None
    mjcf: str | None = None
    mjcf_equality: str | None = None
    sdf: tuple[str, ...] = ()

    def motions_with(self, quaternion: bool) -> tuple[JointKindMotion, ...]:
        """Return the motions, with a quaternion or with angles."""
        if quaternion and self.quaternion_motion is not None:
            return (self.quaternion_motion,)
        return self.motions

    def dofs_with(self, quaternion: bool) -> tuple[DegreeOfFreedom, ...]:
        """Return the degrees of freedom, one per generalized velocity."""
        return self._dofs[quaternion]

    def coordinates_with(self, quaternion: bool) -> tuple[str, ...]:
        """Return the endings of the names of the coordinates."""
        return self._coordinate_endings[quaternion]

    @cached_property
    def _dofs(self) -> tuple[tuple[DegreeOfFreedom, ...], ...]:
        """The degrees of freedom with angles, then with a quaternion."""
        both = (self.motions_with(quaternion) for quaternion in (False, True))
        return tuple(tuple(f for motion in motions for f in motion.dofs) for motions in both)

    @cached_property
    def _coordinate_endings(self) -> tuple[tuple[str, ...], ...]:
        """The endings of coordinates with angles, then with a quaternion."""
        both = (self.motions_with(quaternion) for quaternion in (False, True))
        return tuple(tuple(c for motion in motions for c in motion.coordinates) for motions in both)

    def has_motion_along(self, direction: MotionDirection) -> bool:
        """Return whether a motion has this direction."""
        return any(motion.direction == direction for motion in self.motions)

    @cached_property
    def has_axis(self) -> bool:
        """Whether `axis` has a meaning."""
        return self.has_plane_frame or self.has_motion_along("axis")

    @cached_property
    def has_slides(self) -> bool:
        """Whether a motion slides or screws along a direction."""
        return any(motion.type in ("slide", "screw") for motion in self.motions)

    @cached_property
    def has_pitch(self) -> bool:
        """Whether `pitch` has a meaning."""
        return any(motion.type == "screw" for motion in self.motions)

    @cached_property
    def is_hinge(self) -> bool:
        """Whether its only motion is a turn about its axis."""
        return self._has_only_motions("turn")

    @cached_property
    def is_slider(self) -> bool:
        """Whether its only motion is a slide along its axis."""
        return self._has_only_motions("slide")

    @cached_property
    def is_cylindrical(self) -> bool:
        """Whether it turns about its axis, then slides along it."""
        return self._has_only_motions("turn", "slide")

    @cached_property
    def is_placed_by_vectors(self) -> bool:
        """Whether it turns about and slides along `axis`, except for a slide along `axis2`."""
        return bool(self.motions) and all(
            motion.direction == "axis" or (motion.type, motion.direction) == ("slide", "axis2")
            for motion in self.motions
        )

    def _has_only_motions(self, *types: str) -> bool:
        """Return whether these are its motions, all along its axis."""
        return [(m.type, m.direction) for m in self.motions] == [(t, "axis") for t in types]


_TURN_ABOUT_AXIS = JointKindMotion("turn", "axis")
_SLIDE_ALONG_AXIS = JointKindMotion("slide", "axis")
_CARDAN_TURNS = (
    JointKindMotion("turn", "x", "rx"),
    JointKindMotion("turn", "y", "ry"),
    JointKindMotion("turn", "z", "rz"),
)
_CARTESIAN_SLIDES = (
    JointKindMotion("slide", "x", "x"),
    JointKindMotion("slide", "y", "y"),
    JointKindMotion("slide", "z", "z"),
)
_URDF_ELEMENTS = ("axis", "limit", "dynamics", "mimic")
_URDF_LIMITS = ("effort", "velocity", "lower", "upper")
_ROD_GLYPH = JointGlyph("cylinder", 0.4, 3.2)

_KIND_ROWS = (
    JointKind(
        name="revolute",
        motions=(_TURN_ABOUT_AXIS,),
        closure=JointKindClosure("bca", "parallel"),
        glyphs=(JointGlyph("cylinder", 1.0, 1.6),),
        urdf=UrdfForm("revolute", _URDF_ELEMENTS, _URDF_LIMITS),
        mjcf="hinge",
        sdf=("revolute",),
    ),
    JointKind(
        name="continuous",
        motions=(_TURN_ABOUT_AXIS,),
        closure=JointKindClosure("bca", "parallel"),
        glyphs=(JointGlyph("cylinder", 1.0, 1.6),),
        urdf=UrdfForm("continuous", _URDF_ELEMENTS, _URDF_LIMITS[:2]),
        sdf=("continuous",),
    ),
    JointKind(
        name="prismatic",
        motions=(_SLIDE_ALONG_AXIS,),
        closure=JointKindClosure("bc", "same"),
        glyphs=(JointGlyph("box", 1.1, 2.2),),
        urdf=UrdfForm("prismatic", _URDF_ELEMENTS, _URDF_LIMITS),
        mjcf="slide",
        sdf=("prismatic",),
    ),
    JointKind(
        name="helical",
        motions=(JointKindMotion("screw", "axis"),),
        closure=JointKindClosure("bc", "parallel", is_screw=True),
        glyphs=(_ROD_GLYPH, JointGlyph("cylinder", 1.0, 1.2)),
        sdf=("screw",),
    ),
    JointKind(
        name="cylindrical",
        motions=(
            JointKindMotion("turn", "axis", "phi"),
            JointKindMotion("slide", "axis", "x"),
        ),
        closure=JointKindClosure("bc", "parallel"),
        glyphs=(_ROD_GLYPH, JointGlyph("cylinder", 1.0, 2.2)),
    ),
    JointKind(
        name="turn-slide",
        motions=(
            JointKindMotion("turn", "axis", "phi"),
            JointKindMotion("slide", "axis2", "x"),
        ),
        closure=JointKindClosure("bc", "parallel", about="axis2", directions_in="child"),
        glyphs=(
            JointGlyph("cylinder", 1.0, 1.6),
            JointGlyph("box", 1.1, 2.2, direction="axis2"),
        ),
        second_axis=SecondAxis("sliding direction, fixed in the child (default x)", X_AXIS),
    ),
    JointKind(
        name="universal",
        motions=(
            JointKindMotion("turn", "axis", "1"),
            JointKindMotion("turn", "axis2", "2"),
        ),
        closure=JointKindClosure("bca", "angle"),
        glyphs=(
            JointGlyph("cylinder", 0.6, 1.7),
            JointGlyph("cylinder", 0.6, 1.7, direction="axis2"),
        ),
        second_axis=SecondAxis(
            "second axis (default y)",
            Y_AXIS,
            parallel_error=("is parallel to axis", "give another (default: y)"),
        ),
        sdf=("universal", "revolute2"),
    ),
    JointKind(
        name="planar",
        motions=(
            JointKindMotion("slide", "x", "x"),
            JointKindMotion("slide", "y", "y"),
            JointKindMotion("turn", "z", "theta"),
        ),
        closure=JointKindClosure("a", "parallel"),
        glyphs=(JointGlyph("box", 2.4, 0.1),),
        second_axis=SecondAxis(
            "direction of x (default x)",
            X_AXIS,
            parallel_error=("is along the normal", "give a direction in the plane"),
        ),
        has_plane_frame=True,
        is_floating=True,
        urdf=UrdfForm("planar", ("axis",)),
    ),
    JointKind(
        name="spherical",
        motions=_CARDAN_TURNS,
        quaternion_motion=JointKindMotion("ball"),
        closure=JointKindClosure("bca", "any"),
        glyphs=(JointGlyph("ball"),),
        mjcf="ball",
        mjcf_equality="connect",
        sdf=("ball",),
    ),
    JointKind(
        name="free",
        motions=_CARTESIAN_SLIDES + _CARDAN_TURNS,
        quaternion_motion=JointKindMotion("free"),
        closure=None,
        is_floating=True,
        urdf=UrdfForm("floating"),
        mjcf="free",
    ),
    JointKind(
        name="fixed",
        motions=(),
        closure=JointKindClosure("bca", "same"),
        glyphs=(JointGlyph("box", 0.7, 0.7),),
        urdf=UrdfForm("fixed"),
        mjcf_equality="weld",
        sdf=("fixed",),
    ),
)

JOINT_KINDS: dict[str, JointKind] = {kind.name: kind for kind in _KIND_ROWS}
"""The rows by their names, which are the values of `type` of a joint."""
