"""The WebAssembly module of a live scene: poses, energies, forces, closing and simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..errors import LinkwrightError, UnsupportedError
from ..exports.motion_programs import (
    MotionProgram,
    make_closing_program,
    make_settling_program,
    make_simulation_program,
)
from ..exports.wasm_export import SIMULATION_FIELDS, WasmLayout
from ..kinematics.closing import CLOSURE_TOLERANCES
from ..kinematics.kinematic_tree import KinematicTree
from ..kinematics.world_kinematics import WorldKinematics
from ..readings.wasm import WasmWriter
from ..simulation.exported_motion import ExportedMotion
from ..tape import Tape, record_expression_tape
from ..types import SX, Floats
from .scene_anchors import SceneAnchor

SHOWN_GAP, SHOWN_SPEED = 1e-5, 1e-4
"""Where nothing runs, stops act whose gaps (m or rad) and their rates are below these: what
sliders, the mouse and plots leave of zero."""


@dataclass(frozen=True)
class LiveModule:
    """The bytes of a module, and the table by which the wrapper of exports finds its functions."""

    content: bytes
    table: Mapping[str, object]


class LiveModuleWriter:
    """Writes the module of a mechanism whose parameters stay inputs.

    `tree` is the kinematic tree with symbols for these parameters; `motion` is None where the
    motion cannot be exported: the module then has poses alone. `quantities` are functions of the
    equations, each of which becomes a function of the same name.
    """

    def __init__(
        self,
        tree: KinematicTree,
        parameters: Mapping[str, float],
        anchors: list[SceneAnchor],
        motion: ExportedMotion | None,
        home: Floats,
        quantities: Sequence[str] = (),
    ) -> None:
        self.tree, self.parameters, self.anchors = tree, dict(parameters), anchors
        self.motion, self.home, self.layout = motion, home, WasmLayout()
        self.quantities = quantities
        self.functions: dict[str, object] = {}

    def write(self) -> LiveModule:
        """Return the module and its table."""
        tapes, programs = self._tapes(), self._programs()
        inner = [tape for program in programs.values() for tape in program.tapes]
        writer = WasmWriter([*tapes.values(), *inner])
        for name, tape in tapes.items():
            self.functions[name] = self._add_tape(writer, name, tape)
        entries = {
            name: self._add_program(writer, name, program) for name, program in programs.items()
        }
        stack = self.layout.end
        heap = stack + max(writer.stack_bytes.values(), default=0) + 8
        for at, content in self.layout.contents.items():
            writer.module.place_data(at, content)
        names, motion = self.tree.names, self.motion
        table = {
            "heap": heap,
            "mechanism": self.tree.mechanism.name,
            "q": list(names.q),
            "qd": list(names.qd),
            "inputs": [] if motion is None else list(motion.input_names),
            "parameters": [{"name": n, "value": x} for n, x in self.parameters.items()],
            "stops": [] if motion is None else motion.rows.names,
            "home": self.home.tolist(),
            "functions": self.functions,
            "programs": entries,
        }
        return LiveModule(writer.module.finish(heap, stack), table)

    # -- tapes -----------------------------------------------------------------------------------

    def _tapes(self) -> dict[str, Tape]:
        """The functions of the module by name."""
        found = {"place": self._placement_tape()}
        if self.motion is None:
            return found
        found["move"] = self.motion.move
        energies = [("kinetic_energy",), ("potential_energy",)]
        found["energies"] = self.motion.record_outputs(energies)
        with suppress(UnsupportedError):
            found["loads"] = self.motion.record_outputs([("reactions",)], with_stops=True)
        for name in self.quantities:
            with suppress(LinkwrightError):
                found[name] = self.motion.record_outputs([(name,)])
        return found

    def _placement_tape(self) -> Tape:
        """(t, q, p) → placements of all links (3 × 4, row by row), the anchors in their links'
        axes, then the vector of gravity and the masses of all bodies."""
        motion = self.tree.motion
        world = WorldKinematics(self.tree, motion.q)
        rows = [ca.horzcat(ca.SX(pose.R), ca.SX(pose.p)) for pose in world.link_poses]
        poses = ca.vertcat(*(ca.vec(row.T) for row in rows))
        anchors = ca.vertcat(*(ca.SX(anchor.point) for anchor in self.anchors))
        masses = (ca.SX(one.m) for one in self.tree.masses.values())
        loads = ca.vertcat(ca.SX(self.tree.gravity), *masses)
        p = ca.SX.sym("p", max(1, len(self.parameters)))
        known = [name for name in self.parameters if name in self.tree.symbols]
        if known:
            own = [ca.SX(self.tree.symbols[name]) for name in known]
            order = list(self.parameters)
            given = [p[order.index(name)] for name in known]
            poses, anchors, loads = ca.substitute(
                [poses, anchors, loads], [ca.vertcat(*own)], [ca.vertcat(*given)]
            )
        inputs = [("t", motion.t, (1,)), ("q", motion.q, (self.tree.nq,)), ("p", p, p.shape[:1])]
        found = {"poses": poses, "anchors": anchors, "loads": loads}
        outputs = [(name, value, value.shape[:1]) for name, value in found.items()]
        return record_expression_tape("place", inputs, outputs)

    def _programs(self) -> dict[str, MotionProgram]:
        """The programs of the module by name."""
        if self.motion is None:
            return {}
        found = {"simulate": make_simulation_program(self.motion, "dop853")}
        if len(self.motion.rows):
            found["settle"] = make_settling_program(
                self.motion, closed=SHOWN_GAP, still=SHOWN_SPEED
            )
        if self.motion.equations.names.position_row_count:
            found["close"] = make_closing_program(self.motion)
        return found

    # -- the table -------------------------------------------------------------------------------

    def _add_tape(self, writer: WasmWriter, name: str, tape: Tape) -> dict[str, object]:
        """Add a function to the module; return its entry in the table."""
        writer.module.export_function(name, writer.add_tape(tape))
        return self._places_of(tape)

    def _add_program(self, writer: WasmWriter, name: str, one: MotionProgram) -> dict[str, object]:
        """Add a program to the module; return its entry in the table."""
        procedures = {key: writer.add_tape(tape) for key, tape in one.procedures.items()}
        writer.module.export_function(name, writer.add_program(one.program, procedures))
        buffers = {key: self.layout.place_buffer(x) for key, x in one.buffers.items()}
        if name == "close":
            self._export_procedure(writer, "constraints", one, procedures)
            return {"buffers": buffers, "closed": CLOSURE_TOLERANCES.tracked_residual}
        if name == "settle":
            return {"buffers": buffers, **SIMULATION_FIELDS, "project": None}
        self._export_procedure(writer, "rates", one, procedures)
        project = one.procedures.get("functions.project")
        ports: list[object] | None = None
        if project is not None:
            writer.module.export_function("project", writer.add_tape(project))
            ports = [self.layout.place_port(port) for port in (*project.inputs, *project.outputs)]
        return {"buffers": buffers, **SIMULATION_FIELDS, "project": ports}

    def _export_procedure(
        self, writer: WasmWriter, name: str, one: MotionProgram, procedures: Mapping[str, int]
    ) -> None:
        """Let JavaScript call a tape that a program calls, too."""
        key = f"functions.{name}"
        writer.module.export_function(name, procedures[key])
        self.functions[name] = self._places_of(one.procedures[key])

    def _places_of(self, tape: Tape) -> dict[str, object]:
        """The places of a tape's inputs and outputs."""
        return {
            "inputs": [self.layout.place_port(port) for port in tape.inputs],
            "outputs": [self.layout.place_port(port) for port in tape.outputs],
        }


def nominal_anchor_points(
    anchors: list[SceneAnchor], tree: KinematicTree, parameters: Mapping[str, float]
) -> Floats:
    """Return the anchors (n, 3) at the mechanism's own parameters."""
    if not anchors:
        return np.zeros((0, 3))
    points: SX = ca.vertcat(*(ca.SX(anchor.point).T for anchor in anchors))
    known = [name for name in parameters if name in tree.symbols]
    if known:
        own = ca.vertcat(*(ca.SX(tree.symbols[name]) for name in known))
        points = ca.substitute(points, own, ca.DM([parameters[name] for name in known]))
    return np.asarray(ca.DM(points), dtype=float).reshape(-1, 3)
