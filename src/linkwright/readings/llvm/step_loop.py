"""LLVM IR that repeats a tape of one step: states stay in their block from step to step.

for every batch of K blocks of W states
    each block:  pack the states, and inputs that are the same in all steps
    each step:   each block: pack the inputs of the step, trigonometry
                 each chunk: each block: the chunk
                 each block: unpack the outputs of kept steps
                 each block: the new states replace the old ones
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...ports import Port
from .ufunc_loop import UfuncLoopIrWriter

if TYPE_CHECKING:
    from .tape_ir import TapeIrEmitter

STEPS_AXIS, KEPT_STEPS_AXIS = "steps", "kept"
"""Names of the axes in a signature: of inputs over the steps, and of outputs over what is kept."""


@dataclass(frozen=True)
class CompiledStepLoop:
    """How a tape of one step is repeated.

    Its first `state_ports` outputs replace as many inputs after every step, and the next `timed_ports` inputs have one
    value for every step. Outputs are those of every n-th step, as many as there is room for: steps = n · kept; the
    outputs in `last_step_outputs` are those of the last step only.
    """

    state_ports: int
    timed_ports: int
    last_step_outputs: tuple[int, ...] = ()

    def is_timed(self, number: int) -> bool:
        """Whether an input has an axis over the steps."""
        return self.state_ports <= number < self.state_ports + self.timed_ports

    def operand_axes(self, inputs: Sequence[Port], outputs: Sequence[Port]) -> list[list[str]]:
        """The names and sizes of all axes, operand by operand."""
        leading = [[STEPS_AXIS] if self.is_timed(k) else [] for k in range(len(inputs))]
        leading += [
            [] if k in self.last_step_outputs else [KEPT_STEPS_AXIS] for k in range(len(outputs))
        ]
        ports = (*inputs, *outputs)
        return [[*first, *map(str, p.shape)] for first, p in zip(leading, ports, strict=True)]


class StepLoopIrWriter(UfuncLoopIrWriter):
    """Writes a loop whose operands have axes over the steps, as a `CompiledStepLoop` says."""

    can_repeat_states = False

    def __init__(self, emitter: TapeIrEmitter, course: CompiledStepLoop) -> None:
        super().__init__(emitter)
        self.course = course
        axes = course.operand_axes(self.ports[: self.n_in], self.ports[self.n_in :])
        self.dimensions = list(dict.fromkeys(name for names in axes for name in names))
        self.has_step_axis = [names[:1] in ([STEPS_AXIS], [KEPT_STEPS_AXIS]) for names in axes]
        self.strides = []
        self.step_strides: list[int] = []
        position = len(self.ports)
        for names, walks in zip(axes, self.has_step_axis, strict=True):
            self.step_strides.append(position)
            self.strides.append(tuple(range(position + walks, position + len(names))))
            position += len(names)

    # -- pieces --------------------------------------------------------------------------

    def write_operands(self) -> str:
        """Loads addresses, strides and the numbers of steps."""
        lines = [
            f"  %pt{k} = getelementptr i64, ptr %steps, i64 {at}\n  %time{k} = load i64, ptr %pt{k}"
            for k, at in enumerate(self.step_strides)
            if self.has_step_axis[k]
        ]
        for name in (STEPS_AXIS, KEPT_STEPS_AXIS):
            at = 1 + self.dimensions.index(name)
            lines.append(
                f"  %p.{name} = getelementptr i64, ptr %dimensions, i64 {at}\n"
                f"  %count.{name} = load i64, ptr %p.{name}"
            )
        lines.append(f"  %every = udiv i64 %count.{STEPS_AXIS}, %count.{KEPT_STEPS_AXIS}")
        return "\n".join([*lines, super().write_operands()])

    def write_row_jumps(self, k: int) -> str:
        """%jumps from row to row and from step to step, whose place in a cache line matters."""
        if not self.has_step_axis[k]:
            return super().write_row_jumps(k)
        return f"  %jumps{k} = or i64 %step{k}, %time{k}"

    def write_operand_places(self, operands: Sequence[int], tag: str) -> str:
        """The addresses of the operands of a block at the current step."""
        lines = [
            super().write_operand_places([k for k in operands if not self.has_step_axis[k]], tag)
        ]
        for k in (k for k in operands if self.has_step_axis[k]):
            number = "%step.number" if k < self.n_in else "%row"
            lines.append(f"""  %shift{tag}{k} = mul i64 %first{tag}, %step{k}
  %later{tag}{k} = mul i64 {number}, %time{k}
  %away{tag}{k} = add i64 %shift{tag}{k}, %later{tag}{k}
  %here{tag}{k} = getelementptr i8, ptr %array{k}, i64 %away{tag}{k}""")
        return "\n".join(lines)

    def write_port_packing(self, operands: Sequence[int], tag: str) -> str:
        """Packs inputs; an input that does not change from step to step is packed in the first step only."""
        lines = [self.write_operand_places(operands, tag)]
        for k in operands:
            cols, s0, s1 = self.operand_strides(k)
            lines.append(f"""  %block{k} = getelementptr {self.v}, ptr %own{tag}, i64 {self.layout.inputs[k]}
  %old{k} = icmp eq i64 {f"%time{k}" if self.has_step_axis[k] else "1"}, 0
  %skip{k} = and i1 %old{k}, {"%again" if self.has_step_axis[k] else "false"}
  br i1 %skip{k}, label %packed{k}, label %pack{k}
pack{k}:
  call void @pack.any(ptr %here{tag}{k}, i64 %step{k}, i64 {self.ports[k].size}, i64 {cols}, i64 {s0}, i64 {s1}, i64 %count{tag}, i1 %tight, ptr %block{k})
  br label %packed{k}
packed{k}:""")
        return "\n".join(lines)

    def write_unpacking(self) -> str:
        """Unpacks the outputs, if the step is kept."""
        return f"""  br i1 %keep, label %keep.step, label %kept.step
keep.step:
{super().write_unpacking()}
  br label %kept.step
kept.step:"""

    def write_state_carry(self) -> str:
        """Copies the states after a step to the inputs of the next one."""
        lines = []
        for port, slots in enumerate(self.plan.entry_slots[: self.course.state_ports]):
            for n, slot in enumerate(slots):
                name = f"{port}.{n}"
                start, end = self.layout.outputs + slot, self.layout.inputs[port] + n
                lines.append(f"""  %from.{name} = getelementptr {self.v}, ptr %own.carry, i64 {start}
  %state.{name} = load {self.v}, ptr %from.{name}
  %to.{name} = getelementptr {self.v}, ptr %own.carry, i64 {end}
  store {self.v} %state.{name}, ptr %to.{name}""")
        return "\n".join(lines)

    # -- functions -----------------------------------------------------------------------

    def write_loop(self) -> str:
        """The whole loop, with its packing functions."""
        return self.write_any_packing() + self.write_broadcast_packing() + super().write_loop()

    def write_batch_body(self) -> str:
        """The loop over the steps of a batch, from `%batch:` on."""
        timed = [k for k in range(self.n_in) if self.course.is_timed(k)]
        others = [k for k in range(self.n_in) if k not in timed]
        begin = self.loop_over_blocks(
            ".in", "batch", self.write_port_packing(others, ".in"), "packed"
        )
        own = self.write_port_packing(timed, ".t") + self.write_trigonometry(".t")
        chunks, last = self.loop_over_chunks("timed")
        return f"""{begin}
  br label %step
step:
  %step.number = phi i64 [0, %packed], [%step.next, %carried]
  %again = icmp ne i64 %step.number, 0
  %step.next = add i64 %step.number, 1
  %turn = urem i64 %step.next, %every
  %keep = icmp eq i64 %turn, 0
  %rows = udiv i64 %step.next, %every
  %row = sub i64 %rows, 1
{self.loop_over_blocks(".t", "step", own, "timed")}
{chunks}
{self.loop_over_blocks(".carry", last, self.write_state_carry(), "carried")}
  %more.steps = icmp ult i64 %step.next, %count.{STEPS_AXIS}
  br i1 %more.steps, label %step, label %unpacked
unpacked:"""

    def write_any_packing(self) -> str:
        """The function that packs one row for all states, contiguous rows of a whole block, or entries."""
        return f"""
define internal void @pack.any(ptr %array, i64 %stride, i64 %size, i64 %cols, i64 %s0, i64 %s1, i64 %count, i1 %tight, ptr %block) {{
entry:
  %same = icmp eq i64 %stride, 0
  br i1 %same, label %one, label %several
one:
  call void @pack.same(ptr %array, i64 %size, i64 %cols, i64 %s0, i64 %s1, ptr %block)
  ret void
several:
  %whole = icmp eq i64 %count, {self.w}
  %fast = and i1 %whole, %tight
  br i1 %fast, label %tiles, label %entries
tiles:
  call void @pack.tiles(ptr %array, i64 %stride, i64 %size, ptr %block)
  ret void
entries:
  call void @pack.entries(ptr %array, i64 %stride, i64 %size, i64 %cols, i64 %s0, i64 %s1, i64 %count, ptr %block)
  ret void
}}
"""

    def write_broadcast_packing(self) -> str:
        """The function that copies the entries of one row into all lanes."""
        return f"""
define internal void @pack.same(ptr %array, i64 %size, i64 %cols, i64 %s0, i64 %s1, ptr %block) {{
entry:
  br label %each
each:
  %k = phi i64 [0, %entry], [%k1, %each]
  %i = udiv i64 %k, %cols
  %j = urem i64 %k, %cols
  %oi = mul i64 %i, %s0
  %oj = mul i64 %j, %s1
  %o = add i64 %oi, %oj
  %from = getelementptr i8, ptr %array, i64 %o
  %x = load {self.scalar}, ptr %from, align 1
  %first = insertelement {self.v} poison, {self.scalar} %x, i32 0
  %all = shufflevector {self.v} %first, {self.v} poison, <{self.w} x i32> zeroinitializer
  %to = getelementptr {self.v}, ptr %block, i64 %k
  store {self.v} %all, ptr %to
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, %size
  br i1 %more, label %each, label %done
done:
  ret void
}}
"""
