"""The kinematic tree on which all recursions run.

Every joint is broken into elementary motions, each with a link behind it; a link's frame
has its motion's axis as z, and links between the motions of one joint have no mass. What
is fixed together is one link. Bodies and frames of the user are placed in links.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from ..algebra.linear_algebra import Array, Scalar
from ..algebra.spatial import SpatialInertia
from ..expressions import ExactNumber
from ..mechanism import Mechanism, MechanismNames, joint_coordinate_name
from .elementary_motions import LinkMotionKind
from .joint_friction import FrictionLaw

if TYPE_CHECKING:
    from .body_forces import BodyForce, SpringLength
    from .constraint_kinds.body_states import ConstrainedBodyStates, ConstraintRows
    from .sketches import Sketch
    from .tree_lengths import TreeLength
    from .world_kinematics import WorldKinematics

GROUND = -1


@dataclass(frozen=True)
class KinematicSymbols:
    """The symbols of the model: coordinates q, velocities qd, accelerations qdd, forces tau, and
    time t."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array
    t: Array


@dataclass(frozen=True)
class JointTransfer:
    """Joint variables as functions of the model's coordinates p and of time: q = f(p, t),
    q̇ = G ṗ + k, q̈ = G p̈ + Ġ ṗ + k̇; expressions of the model's symbols. The `drift` k = ∂f/∂t and
    its rate have no entries where f does not depend on time. `neutral` is p where q is zero at
    t = 0, if known."""

    q: Array
    G: Array
    G_rate: Array
    drift: Array
    drift_rate: Array
    neutral: tuple[float, ...]

    @property
    def is_moving(self) -> bool:
        """Whether the joint variables depend on time at constant p."""
        return bool(self.drift.nnz() or self.drift_rate.nnz())

    @property
    def is_affine(self) -> bool:
        """Whether G is constant, so that Ġ = 0."""
        return bool(self.G_rate.nnz() == 0)


@dataclass(frozen=True)
class ForceElement(ABC):
    """A force of the mechanism, with its numbers as floats or symbols.

    `force_kinds` has one file a kind. `is_declared`: the file gives the force as a load; springs,
    dampers and contacts are passive. `label` names it in pictures.
    """

    name: str

    is_declared: ClassVar[bool] = False
    label: ClassVar[str] = "load"

    def body_forces(self, world: WorldKinematics, v: Array) -> list[BodyForce]:
        """Return its wrenches on bodies placed as in `world`, at the tree's velocities v."""
        return []

    def joint_forces(self, world: WorldKinematics, v: Array) -> tuple[tuple[int, Scalar], ...]:
        """Return its forces along degrees of freedom, by the index among the tree's velocities."""
        return ()

    def potential_energy(self, world: WorldKinematics) -> Scalar | None:
        """Return its potential energy, J; None if it has none."""
        return None

    def spring_length(self, world: WorldKinematics, qd: Array) -> SpringLength | None:
        """Return its spring length, with which closed forms write it; None if its force depends on
        no length."""
        return None

    @property
    def sketches(self) -> tuple[Sketch, ...]:
        """The glyphs that pictures show of it."""
        return ()


class Transmission(ABC):
    """What an actuator drives: a length or angle l, and a column b of the input matrix, τ = b u.

    `transmissions` has the kinds. Actuators act with power u · l̇, and so l̇ = bᵀ q̇.
    """

    @abstractmethod
    def length(self, tree: KinematicTree, q: Array) -> Scalar:
        """Return l at the coordinates q; 0 where only its rate has a meaning."""

    @abstractmethod
    def input_column(self, tree: KinematicTree, q: Array) -> Array:
        """Return b, nv entries, at the coordinates q."""


@dataclass(frozen=True)
class TreeForces:
    """Force elements, what the actuators drive, and compliant contacts."""

    force_elements: tuple[ForceElement, ...] = ()
    transmissions: tuple[Transmission, ...] = ()
    compliant_contacts: tuple[ForceElement, ...] = ()

    @property
    def passive_elements(self) -> list[ForceElement]:
        """Springs, dampers and compliant contacts."""
        return [x for x in (*self.force_elements, *self.compliant_contacts) if not x.is_declared]

    @property
    def declared_elements(self) -> list[ForceElement]:
        """The loads that the file declares as expressions."""
        return [x for x in self.force_elements if x.is_declared]


@dataclass(frozen=True)
class LinkFrame:
    """A frame fixed to a link (or to ground): its placement (R, p) in the link's frame."""

    link: int
    R: Array
    p: Array


@dataclass(frozen=True)
class Restraint(ABC):
    """A loop or constraint, with its numbers as floats or symbols.

    `constraint_kinds` has one file a kind. Nothing else needs to know the kinds: what the package
    asks of a loop or constraint are the methods below.
    """

    name: str

    @property
    @abstractmethod
    def attached_names(self) -> tuple[str, ...]:
        """Names of the frames or bodies that it acts on; none if it acts along coordinates."""

    @abstractmethod
    def constraint_rows(self, setting: ConstrainedBodyStates) -> ConstraintRows:
        """Return its equations."""

    def row_units(self, count: int) -> list[str]:
        """Return the units of its first `count` equations of positions, or of velocities: "m", "1"
        (sines of angles), or "" if unknown."""
        return ["m"] * count

    def assumed_zero_rates(self, setting: ConstrainedBodyStates) -> list[Array]:
        """Return expressions of velocities that must vanish for its equations to hold."""
        return []

    def relocate_frames(self, change: Callable[[LinkFrame], LinkFrame]) -> Restraint:
        """Return the restraint with its frames mapped to other link frames."""
        return self

    def choose_side(self, tree: KinematicTree) -> Restraint:
        """Return the restraint on the side on which the mechanism's file has it, where there are
        two."""
        return self

    @property
    def loop_frames(self) -> tuple[LinkFrame, ...]:
        """The frames of a joint that closes a loop, in the parent and in the child."""
        return ()

    def turning_axes(self, tree: KinematicTree) -> list[tuple[LinkFrame, Array]]:
        """Return axes about which it lets bodies turn, each with a frame and its direction in that
        frame."""
        return []

    @property
    def sketches(self) -> tuple[Sketch, ...]:
        """The glyphs that pictures show of it."""
        return ()


@dataclass(frozen=True)
class Restraints:
    """The loops and constraints that restrict the motion of a tree."""

    entries: tuple[Restraint, ...] = ()


@dataclass(frozen=True)
class TreeLink:
    """An elementary motion and the body behind it.

    (R, p) places the motion's frame, before it moves, in the parent link's frame. A turn is
    by q + `offset`; the link's own frame is shifted along z by `shift` beyond the motion.
    `inertia` is about the link frame's origin; `q` and `v` are the first indices of its
    coordinates and velocities among those of the whole tree, followers of mimicry included.
    """

    parent: int
    R: Array
    p: Array
    kind: LinkMotionKind
    pitch: Scalar
    q: int
    v: int
    inertia: SpatialInertia
    offset: float = 0.0
    shift: Scalar = 0.0

    @property
    def coordinate_range(self) -> slice:
        """The range of its coordinates among those of the tree."""
        return slice(self.q, self.q + self.kind.coordinate_count)

    @property
    def velocity_range(self) -> slice:
        """The range of its velocities among those of the tree."""
        return slice(self.v, self.v + self.kind.velocity_count)


@dataclass(frozen=True)
class BodyMass:
    """A body as textbooks have it: mass m, centre of mass c, tensor I about it, link's axes."""

    link: int
    m: Scalar
    c: Array
    I: Array  # noqa: E741


@dataclass(frozen=True)
class JointEffects:
    """The effects along one degree of freedom of the tree: losses, spring, rotor (zero where
    nothing)."""

    damping: Scalar = 0.0
    friction: FrictionLaw = field(default_factory=FrictionLaw)
    stiffness: Scalar = 0.0
    rest_position: Scalar = 0.0
    rotor_inertia: Scalar = 0.0


@dataclass(frozen=True)
class MimicFollower:
    """A tree coordinate that is `gain` · (another coordinate of the model) + `offset`."""

    leader: int
    gain: Scalar
    offset: Scalar


@dataclass(frozen=True)
class JointLinks:
    """A joint of the mechanism: its links (none if it does not move) and its frame."""

    name: str
    links: tuple[int, ...]
    frame: LinkFrame


@dataclass(frozen=True)
class KinematicTree:
    """A mechanism made ready for recursions, with its numbers as floats or symbols.

    `nq`, `nv` count the model's coordinates and velocities. The tree itself may have more:
    `followers` maps its coordinates of mimicking joints to the model's. `inertias` and `masses`
    are those of the single bodies, in their links' frames (a canonical tree has no masses).
    `speeds` are the generalized speeds u = Y q̇ + Z by name, as functions of q, q̇ and t.
    """

    mechanism: Mechanism
    links: tuple[TreeLink, ...]
    bodies: dict[str, LinkFrame]
    frames: dict[str, LinkFrame]
    inertias: dict[str, SpatialInertia]
    masses: dict[str, BodyMass]
    joints: tuple[JointLinks, ...]
    joint_effects: tuple[JointEffects, ...]
    followers: dict[int, MimicFollower]
    names: MechanismNames
    gravity: Array
    motion: KinematicSymbols
    transfer: JointTransfer | None = None
    lengths: dict[str, TreeLength] = field(default_factory=dict)
    forces: TreeForces = TreeForces()
    restraints: Restraints = Restraints()
    speeds: dict[str, Scalar] = field(default_factory=dict)
    symbols: dict[str, Scalar] = field(default_factory=dict)
    symbol_values: dict[str, ExactNumber] = field(default_factory=dict)
    literals: dict[str, Fraction] = field(default_factory=dict)

    @property
    def nq(self) -> int:
        """The number of the model's coordinates."""
        return self.names.nq

    @property
    def nv(self) -> int:
        """The number of the model's velocities."""
        return self.names.nv

    @property
    def tree_nv(self) -> int:
        """The number of the tree's velocities, those of mimicking joints included."""
        return len(self.joint_effects)

    def own_velocity_indices(self) -> list[int]:
        """Return the indices, among the tree's velocities, of those that are the model's, in
        order."""
        return [v for v in range(self.tree_nv) if v not in self.followers]

    def dof_indices(self) -> dict[str, int]:
        """Return the index of each degree of freedom of joints with coordinates of their own, among
        the tree's velocities, by name."""
        return {
            joint_coordinate_name(span.name, freedom.ending): self.links[span.links[0]].v + k
            for span in self.joints
            if self.mechanism.joints[span.name].moves
            for k, freedom in enumerate(self.mechanism.joints[span.name].dofs)
        }

    def path_to_ground(self, link: int) -> Iterator[int]:
        """Yield the links from the given one to ground."""
        while link != GROUND:
            yield link
            link = self.links[link].parent

    def find_frame(self, name: str) -> LinkFrame:
        """Return the frame of a body or frame by name, or raise `NameNotFoundError`."""
        from ..errors import NameNotFoundError, suggest_remedy

        places = self.bodies | self.frames
        if name not in places:
            raise NameNotFoundError(
                f"{self.mechanism.name} has no frame or body '{name}'",
                remedy=suggest_remedy(name, list(places)),
            )
        return places[name]
