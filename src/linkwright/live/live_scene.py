"""The live scene of a mechanism: all that a page needs to draw, move and simulate it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..displays import SummarizedResult
from ..errors import ArgumentError
from ..kinematics.kinematic_tree import GROUND
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import Mechanism, require_mechanism
from ..mechanism.mechanism_units import coordinate_units
from ..show.glyphs import drawn_matrix, drawn_point
from ..show.mechanism_scene import Scene, mechanism_scene
from ..types import Floats
from .live_mechanism import (
    contact_dampings,
    effective_parameters,
    make_live_motion,
    smooth_mechanism,
)
from .recorded_run import recorded_run_data, thinned_run_rows
from .scene_anchors import find_scene_anchors
from .scene_controls import (
    coordinate_controls,
    driven_velocities,
    effort_controls,
    parameter_controls,
    start_within_limits,
    velocity_entries,
)
from .scene_equations import LiveEquation
from .scene_glyphs import contact_points, scene_drawing
from .scene_module import LiveModuleWriter, nominal_anchor_points
from .scene_shapes import scene_shapes
from .scene_symbols import scene_symbols

if TYPE_CHECKING:
    from ..simulation.run import Run

_SHOWN_TURNS = (-1.2, 1.2)
"""Turns of single coordinates from home that still lie in the first view, rad."""
FORMAT = 1
"""The version of the data that the viewer in JavaScript expects."""


@dataclass(frozen=True, repr=False)
class LiveScene(SummarizedResult):
    """A mechanism as the viewer of live pages reads it.

    `data` is a table of plain numbers, texts and lists, ready for JSON; `module` has the bytes of
    its WebAssembly functions.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.live.scene(lw.gallery("elbow"))
    >>> found.name, found.module[:4]
    ('elbow', b'\\x00asm')
    """

    data: Mapping[str, object]
    module: bytes

    @property
    def name(self) -> str:
        """The name of the mechanism."""
        return str(self.data["name"])

    @property
    def notes(self) -> tuple[str, ...]:
        """How the page differs from `simulate`, and what is left out, in sentences."""
        return tuple(self.data["notes"])  # type: ignore[arg-type]

    def summary(self) -> str:
        """Return one line: the mechanism, and the size of its data."""
        return f"Live scene of {self.name}: {len(self.json) / 1e6:.2f} MB"

    @cached_property
    def json(self) -> str:
        """The scene as JSON, its module in base64; safe inside a script element."""
        content = base64.b64encode(self.module).decode()
        text = json.dumps({**self.data, "wasm": content}, separators=(",", ":"), allow_nan=False)
        return text.replace("<", "\\u003c")


def scene(
    mechanism: Mechanism,
    run: Run | None = None,
    *,
    trace: Sequence[str] | None = None,
    equations: Sequence[LiveEquation] = (),
    meshes: bool = True,
    triangles: int = 24_000,
) -> LiveScene:
    """Return a mechanism, and a recorded run of it, as data for the viewer of live pages.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    run : Run, optional
        A simulated motion of the mechanism, which the page plays back and compares with.
    trace : sequence of str, optional
        Frames, and bodies for their centres of mass, whose paths are drawn (default: up to four
        frames, or the last bodies).
    equations : sequence of LiveEquation, optional
        Equations to show beside the picture.
    meshes : bool
        Draw the meshes of visual shapes; they need the extra `[mesh]`.
    triangles : int
        Triangles of all meshes together, at most.

    Returns
    -------
    LiveScene
        Data and WebAssembly functions.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.live.scene(lw.gallery("elbow"))
    >>> [one["name"] for one in found.data["coordinates"]]
    ['q1', 'q2']
    """
    if not isinstance(triangles, int) or triangles < 1000:
        raise ArgumentError(f"triangles={triangles!r} is too few", remedy="give 1000 or more")
    drawn = mechanism_scene(require_mechanism(mechanism))
    smooth, notes = smooth_mechanism(drawn)
    parameters, dampings = effective_parameters(smooth), contact_dampings(mechanism)
    tree = build_kinematic_tree(smooth, tuple(parameters) if parameters else "numeric")
    motion, more = make_live_motion(smooth, parameters)
    anchors = find_scene_anchors(tree)
    shown = [one.quantity for one in equations if one.quantity]
    module = LiveModuleWriter(tree, parameters, anchors, motion, drawn.home, shown).write()
    points, links = nominal_anchor_points(anchors, tree, parameters), [a.link for a in anchors]
    poses = _shown_placements(drawn, run)
    shapes = scene_shapes(mechanism, drawn.tree, meshes=meshes, triangles=triangles)
    coordinates = coordinate_controls(drawn, drawn.home)
    if run is None:
        more += start_within_limits(coordinates, bool(drawn.tree.restraints.entries))
    data: dict[str, object] = {
        "format": FORMAT,
        "name": mechanism.name,
        "notes": [*notes, *more, *shapes.notes],
        "coordinates": coordinates,
        "velocities": velocity_entries(mechanism, tree.names),
        "parameters": parameter_controls(smooth, parameters, dampings.values()),
        "efforts": effort_controls(mechanism, tree.names),
        "actuated": bool(tree.names.actuators),
        "independent": list(mechanism.independent) or driven_velocities(mechanism, tree.names),
        "home": [one["home"] for one in coordinates],
        "anchors": points.ravel().tolist(),
        "gravity": drawn.gravity.tolist(),
        "table": module.table,
        "contacts": contact_points(drawn, dampings),
        "equations": [one.data() for one in equations],
        "symbols": scene_symbols(mechanism, tree),
        "run": None if run is None else recorded_run_data(run),
    }
    data |= _tree_data(drawn, [a.name for a in anchors]) | scene_drawing(
        drawn, poses, links, points, trace
    )
    data |= {"shapes": shapes.shapes, "meshes": shapes.meshes}
    return LiveScene(data, module.content)


def _shown_placements(scene: Scene, run: Run | None) -> Floats:
    """Placements (n, links + 1, 3, 4) that the first view shows: of the run; without one, of
    home and, in mechanisms without loops, of poses to which single coordinates are turned."""
    if run is not None:
        rows = thinned_run_rows(run)
        return scene.link_placements(run.q[rows], run.t[rows])
    poses = [scene.home]
    if not scene.tree.restraints.entries:
        for k, unit in enumerate(coordinate_units(scene.mechanism)):
            if unit == "rad":
                poses += [scene.home + turn * np.eye(scene.tree.nq)[k] for turn in _SHOWN_TURNS]
    return scene.link_placements(np.array(poses))


def _tree_data(scene: Scene, anchors: list[str]) -> dict[str, object]:
    """Bodies, joints, frames and loops by name, with the links that carry them, and the anchors
    that move their points when parameters change."""
    tree, mechanism = scene.tree, scene.mechanism

    def place(anchor: str, link: int, p: object) -> dict[str, object]:
        point = drawn_point(p).tolist()  # type: ignore[arg-type]
        return {"link": link, "point": point, "anchor": anchors.index(anchor)}

    parents = [link.parent for link in tree.links]
    return {
        "links": parents,
        "bodies": [
            {"name": n, "mass": float(m.m), **place(f"mass {n}", m.link, m.c)}
            for n, m in tree.masses.items()
        ],
        "joints": [
            {
                "name": span.name,
                "type": mechanism.joints[span.name].type,
                "parent": mechanism.joints[span.name].parent,
                "child": mechanism.joints[span.name].child,
                "links": list(span.links),
                **place(f"joint {span.name}", span.frame.link, span.frame.p),
            }
            for span in tree.joints
        ],
        "loops": [
            {
                "name": tie.name,
                "places": [
                    place(f"loop {tie.name} {k}", at.link, at.p)
                    for k, at in enumerate(tie.loop_frames)
                ],
            }
            for tie in tree.restraints.entries
        ],
        "frames": [
            {"name": n, "rotation": drawn_matrix(f.R).tolist(), **place(f"frame {n}", f.link, f.p)}
            for n, f in tree.frames.items()
        ],
        "ground": GROUND,
    }


def check_scene(given: object) -> LiveScene:
    """Return a live scene; refuse anything else."""
    if not isinstance(given, LiveScene):
        raise ArgumentError("this is not a live scene", remedy="give one made by live.scene")
    return given
