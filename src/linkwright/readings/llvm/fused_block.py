"""A short tape as one function on a block of states, from rows of the inputs to rows of the outputs.

Rows are transposed in registers, and sines, cosines and all other values stay there as far as registers
go. Only large outputs pass through a context. Sines and cosines are written for two angles in turn, since one
alone is a chain of dependent instructions. Rows may be the same for all lanes (a stride of 0), and the
results are then the same, too.
"""

from __future__ import annotations

from itertools import zip_longest

from ...tape import Op, Tape
from .input_angles import split_input_angle
from .lane_transposes import LaneTransposeIrWriter
from .output_tiles import MIN_TILES_TO_LEAD
from .overlapped_tiles import (
    MAX_OVERLAPPED_TILES,
    MAX_OVERLAPPED_TILES_OF_HALVES,
    MIN_INSTRUCTIONS_PER_TILE,
    OverlappedPort,
    OverlappedTileIrWriter,
    spread_groups,
    usual_leads,
)
from .shared_ir import shared_ir_declarations
from .sincos import SincosIrWriter, llvm_hexadecimal
from .tape_ir import ContextLayout, LlvmScalarType, TapeIrEmitter
from .target import MachineTarget

MAX_FUSED_LENGTH = 8000
"""Instructions, at most: beyond, code comes from the second cache, and chunks share its fetching."""

MAX_FUSED_ENTRIES = 512
"""Entries of inputs and outputs, at most: each becomes code."""

ANGLES_IN_TURN = 2
"""Angles whose sines and cosines are written in turn."""


def is_fusible(emitter: TapeIrEmitter) -> bool:
    """Whether a tape is short enough for one function."""
    sizes = [port.size for port in emitter.tape.inputs]
    sizes += [emitter.tape.outputs[k].size for k in small_output_ports(emitter.tape, emitter.w)]
    return len(emitter.tape) <= MAX_FUSED_LENGTH and sum(sizes) <= MAX_FUSED_ENTRIES


def small_output_ports(tape: Tape, lanes: int) -> list[int]:
    """The outputs of few tiles, whose code is written; the others leave through a context."""
    return [k for k, port in enumerate(tape.outputs) if port.size < MIN_TILES_TO_LEAD * lanes]


class FusedBlockIrEmitter(TapeIrEmitter):
    """Emits `@block(row, stride, …, context)` of a tape, with the first row and the stride of each input and each small
    output. The context has the values of large outputs only."""

    def __init__(self, tape: Tape, target: MachineTarget, precision: LlvmScalarType) -> None:
        super().__init__(tape, target, precision)
        self.layout = ContextLayout((), 0, 0, 0, self.plan.slots)
        self.small = small_output_ports(self.tape, self.w)
        large = [r for k, r in enumerate(self.tape.results) if k not in self.small]
        self.leaving = {value for result in large for value in result.tolist()}
        self.rows = LaneTransposeIrWriter(self.p.scalar, self.p.bytes, self.w)
        self.overlaps = self.choose_overlaps()

    def choose_overlaps(self) -> list[OverlappedTileIrWriter]:
        """The writers of tiles of the block before, for the usual leads, if vectors have 8 lanes and the rows of all
        large outputs are whole cache lines."""
        large = [k for k in range(len(self.tape.outputs)) if k not in self.small]
        if self.w != 8 or not large or not self.plan.leading_ports().issuperset(large):
            return []
        halves = self.target.is_executed_in_halves
        tiles = MAX_OVERLAPPED_TILES_OF_HALVES if halves else MAX_OVERLAPPED_TILES
        most = min(tiles, len(self.tape) // MIN_INSTRUCTIONS_PER_TILE) // len(large)
        count = min(most, *(self.plan.count_whole_tiles(k) for k in large))
        size, first = self.w * self.p.bytes, len(self.tape.inputs)
        literals = {
            size
            * slot: f"splat ({self.p.scalar} {self.p.literal(float(self.tape.constants[value]))})"
            for value, slot in self.plan.constant_slots.items()
        }
        ports = {
            first + k: OverlappedPort([size * slot for slot in self.plan.entry_slots[k]], literals)
            for k in large
        }
        leads = usual_leads(self.w, self.p.bytes) if count else ()
        return [OverlappedTileIrWriter(self.rows, ports, lead, count) for lead in leads]

    def emit_functions(self) -> str:
        """The declarations, and the function of a block."""
        block = self.emit_block() + "".join(self.emit_block(overlap) for overlap in self.overlaps)
        fma = f"declare {self.v} @llvm.fma.{self.suffix}({self.v}, {self.v}, {self.v})"
        wide = f"declare {self.d} @llvm.fma.v{self.w}f64({self.d}, {self.d}, {self.d})"
        parts = [f'target triple = "{self.target.triple}"', *sorted({*self.declared, fma, wide})]
        parts += [shared_ir_declarations(self.w), self.rows.write_declarations()]
        weights = '!0 = !{!"branch_weights", i32 1, i32 100000}\n'
        return "\n".join([*parts, block, weights, self.emit_constants()])

    def emit_block(self, overlap: OverlappedTileIrWriter | None = None) -> str:
        """The function of a block; with an `overlap`, it writes tiles of the block before."""
        self.lines = []
        self.loaded: set[int] = set()
        self.names: dict[int, str] = {}
        self.sincos_results: dict[int, str] = {}
        self.input_values = {
            (int(port), int(entry)): k
            for k, (port, entry, *_) in enumerate(self.tape.args.tolist())
            if self.tape.ops[k] == Op.INPUT
        }
        self.emit_angles()
        angles, self.lines = self.lines, []
        missing = self.output_tiles()
        for tile in [tile for tile, values in missing.items() if not values]:
            self.store_tile(*tile)
        for k, op in enumerate(self.tape.operations):
            if op is Op.CONSTANT or k in self.fused_products:
                continue
            if k not in self.loadable_values:
                self.emit_instruction(k, op)
                self.loaded.add(k)
            if k in self.leaving:
                self.store_value(k, self.plan.store_slots[k])
            for tile, values in missing.items():
                if k in values:
                    values.discard(k)
                    if not values:
                        self.store_tile(*tile)
        numbers = [*range(len(self.tape.inputs)), *(len(self.tape.inputs) + k for k in self.small)]
        operands = ", ".join(f"ptr %rows{n}, i64 %stride{n}" for n in numbers)
        name, before = "block", list[str]()
        if overlap:
            name, operands = overlap.name, overlap.parameters + operands
            before = overlap.write_addresses()
            self.lines = spread_groups(self.lines, overlap.half_tiles())
        body = "\n".join([*before, *angles, *self.lines])
        head = f"define internal void @{name}({operands}, ptr %ctx) noinline alignstack({self.target.vector_bytes})"
        return f"\n{head} {{\nentry:\n{body}\n  ret void\n}}\n"

    # -- rows ----------------------------------------------------------------------------

    def row_addresses(self, operand: int, first: int, tag: str) -> list[str]:
        """Writes the addresses of entry `first` in the W rows of an operand."""
        found = []
        for n in range(self.w):
            self.lines += [
                f"  %{tag}o{n} = mul i64 %stride{operand}, {n}",
                f"  %{tag}b{n} = add i64 %{tag}o{n}, {first * self.p.bytes}",
                f"  %{tag}a{n} = getelementptr i8, ptr %rows{operand}, i64 %{tag}b{n}",
            ]
            found.append(f"%{tag}a{n}")
        return found

    def lane_mask(self, size: int) -> str:
        """The mask of the first lanes, as a constant."""
        return f"{self.b} <{', '.join(f'i1 {str(n < size).lower()}' for n in range(self.w))}>"

    def load_tile(self, port: int, first: int) -> None:
        """Loads W entries of the rows of an input, or those that are left, and transposes them."""
        size = min(self.w, self.tape.inputs[port].size - first)
        half = self.w // 2
        if self.w == 8 and size >= half:
            columns = self.load_half_tile(port, first)
            if size > half:
                columns += self.load_half_tile(port, first + size - half)[2 * half - size :]
        else:
            columns = self.load_masked_tile(port, first, size)
        for n in range(size):
            if (port, first + n) in self.input_values:
                self.names[self.input_values[port, first + n]] = columns[n]

    def load_half_tile(self, port: int, first: int) -> list[str]:
        """Loads half of W entries of W rows and transposes them; halves of vectors are put side by side by
        loads, which takes no shuffle."""
        tag, part = f"i{port}.{first}.", f"<{self.w // 2} x {self.p.scalar}>"
        for n, address in enumerate(self.row_addresses(port, first, tag)):
            self.lines.append(f"  %{tag}r{n} = load {part}, ptr {address}, align {self.p.bytes}")
        halves = [f"%{tag}r{n}" for n in range(self.w)]
        return self.rows.transpose_pairs(self.lines, halves, tag)

    def load_masked_tile(self, port: int, first: int, size: int) -> list[str]:
        """Loads the first entries of W rows, masked, and transposes them."""
        tag, v, align = f"i{port}.{first}.", self.v, f"align {self.p.bytes}"
        rows = []
        for n, address in enumerate(self.row_addresses(port, first, tag)):
            load = f"load {v}, ptr {address}, {align}"
            if size < self.w:
                load = (
                    f"call {v} @llvm.masked.load.{self.suffix}.p0(ptr {align} {address}, "
                    f"{self.lane_mask(size)}, {v} poison)"
                )
            self.lines.append(f"  %{tag}r{n} = {load}")
            rows.append(f"%{tag}r{n}")
        return self.rows.transpose_vectors(self.lines, rows, tag)

    def output_tiles(self) -> dict[tuple[int, int], set[int]]:
        """The tiles of the small outputs, with the values that they wait for."""
        found = {}
        for port in self.small:
            result = self.tape.results[port]
            for first in range(0, len(result), self.w):
                values = result[first : first + self.w].tolist()
                found[port, first] = {v for v in values if self.tape.ops[v] != Op.CONSTANT}
        return found

    def store_tile(self, port: int, first: int) -> None:
        """Transposes W values of an output, or those that are left, and stores them in its rows."""
        values = self.tape.results[port][first : first + self.w].tolist()
        names = [self.load_value(v) for v in values] + ["poison"] * (self.w - len(values))
        tag, align = f"o{port}.{first}.", f"align {self.p.bytes}"
        rows = self.rows.transpose_vectors(self.lines, names, tag)
        addresses = self.row_addresses(len(self.tape.inputs) + port, first, tag)
        for row, address in zip(rows, addresses, strict=True):
            store = f"store {self.v} {row}, ptr {address}, {align}"
            if len(values) < self.w:
                store = (
                    f"call void @llvm.masked.store.{self.suffix}.p0({self.v} {row}, "
                    f"ptr {align} {address}, {self.lane_mask(len(values))})"
                )
            self.lines.append(f"  {store}")

    def load_value(self, k: int) -> str:
        """The name of a value; the rows of an input are loaded with the first of their entries."""
        if k in self.names:
            return self.names[k]
        if self.tape.operations[k] is Op.INPUT:
            port, entry = (int(a) for a in self.tape.args[k, :2])
            self.load_tile(port, entry // self.w * self.w)
            return self.names[k]
        return super().load_value(k)

    # -- angles --------------------------------------------------------------------------

    def emit_angles(self) -> None:
        """Computes the sines and cosines of all angles; if one is huge, by the slow function."""
        if not self.angles:
            return
        givens = [self.emit_angle(n, value) for n, value in enumerate(self.angles)]
        self.emit_check(len(givens))
        writers = [SincosIrWriter(self.target, self.w) for _ in givens]
        bodies = [w.write_unchecked_body(f"q{n}.") for n, w in enumerate(writers)]
        self.lines.append("near:")
        for start in range(0, len(bodies), ANGLES_IN_TURN):
            turns = zip_longest(*bodies[start : start + ANGLES_IN_TURN], fillvalue="")
            self.lines += [line for turn in turns for line in turn if line]
        self.lines += ["  br label %arithmetic", "far:"]
        pair = f"{{{self.d}, {self.d}}}"
        for n in range(len(givens)):
            self.lines += [
                f"  %q{n}.pair = call {pair} @sincos({self.d} %q{n}.x)",
                f"  %q{n}.sin.far = extractvalue {pair} %q{n}.pair, 0",
                f"  %q{n}.cos.far = extractvalue {pair} %q{n}.pair, 1",
            ]
        self.lines += ["  br label %arithmetic", "arithmetic:"]
        self.name_sines_and_cosines()

    def emit_angle(self, n: int, value: int) -> str:
        """Writes an angle as a vector of doubles."""
        angle = split_input_angle(self.tape, value)
        assert angle is not None
        source, offset = angle
        given = self.load_value(source)
        if self.p.bytes == 4:
            self.lines.append(f"  %q{n}.wide = fpext {self.v} {given} to {self.d}")
            given = f"%q{n}.wide"
        constant = f"splat (double {llvm_hexadecimal(offset)})"
        self.lines += [
            f"  %q{n}.x = fadd {self.d} {given}, {constant}",
            f"  %q{n}.given = select i1 true, {self.d} %q{n}.x, {self.d} %q{n}.x",
        ]
        return f"%q{n}.x"

    def emit_check(self, count: int) -> None:
        """Branches to `far:` if a lane of an angle is huge, else to `near:`."""
        writer = SincosIrWriter(self.target, self.w)
        mask = ""
        for n in range(count):
            self.lines += writer.write_check(f"q{n}.")
            if mask:
                self.lines.append(f"  %huge{n} = or {self.b} {mask}, %q{n}.mask")
            mask = f"%huge{n}" if mask else f"%q{n}.mask"
        self.lines += [
            f"  %huge.bits = bitcast {self.b} {mask} to i{self.w}",
            f"  %is.huge = icmp ne i{self.w} %huge.bits, 0",
            "  br i1 %is.huge, label %far, label %near, !prof !0",
        ]

    def name_sines_and_cosines(self) -> None:
        """Takes sines and cosines from the path that computed them."""
        narrow = []
        for k in sorted(self.loadable_values):
            op = self.tape.operations[k]
            if op not in (Op.SIN, Op.COS):
                continue
            n, part = self.angles[int(self.tape.args[k, 0])], "sin" if op is Op.SIN else "cos"
            self.lines.append(
                f"  %d{k} = phi {self.d} [%q{n}.{part}.fast, %near], [%q{n}.{part}.far, %far]"
            )
            self.names[k] = f"%d{k}"
            if self.p.bytes == 4:
                narrow.append(f"  %f{k} = fptrunc {self.d} %d{k} to {self.v}")
                self.names[k] = f"%f{k}"
        self.lines += narrow
