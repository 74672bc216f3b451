"""LLVM IR of the functions that all code of one precision shares: lane packing, sincos, threads.

It is the larger part of the code of a small function, and the same in all: it is compiled, stored and loaded once.
"""

from __future__ import annotations

from .lane_packing import PACKING_DECLARATIONS, lane_packing_ir
from .row_copies import ROW_COPY_DECLARATIONS, row_copies_ir
from .sincos import SincosIrWriter, sincos_ir
from .target import MachineTarget
from .threads import RANGES_DECLARATION, thread_split_ir


def shared_functions_ir(target: MachineTarget, scalar: str, item_bytes: int) -> str:
    """The LLVM module of all shared functions, for numbers of 8 or 4 bytes."""
    lanes = target.vector_lanes(item_bytes)
    parts = [
        f'target triple = "{target.triple}"',
        lane_packing_ir(scalar, item_bytes, lanes),
        row_copies_ir(scalar, item_bytes, lanes),
        _angle_loop_ir(target, scalar, item_bytes),
        sincos_ir(target, lanes),
        thread_split_ir(lanes),
    ]
    return "\n".join(parts)


def shared_ir_declarations(lanes: int) -> str:
    """The declarations of the shared functions in the module of a tape."""
    d = f"<{lanes} x double>"
    return f"""{PACKING_DECLARATIONS}{ROW_COPY_DECLARATIONS}{RANGES_DECLARATION}
declare void @sines.cosines(ptr, ptr, ptr, ptr, i64)
declare {{{d}, {d}}} @sincos({d})
"""


def _angle_loop_ir(target: MachineTarget, scalar: str, item_bytes: int) -> str:
    """A loop over angles in a context that adds their offsets and stores their sines and cosines."""
    lanes = target.vector_lanes(item_bytes)
    v, d = f"<{lanes} x {scalar}>", f"<{lanes} x double>"
    writer = SincosIrWriter(target, lanes)
    load = f"  %bare = load {v}, ptr %from"
    store = f"  %s = select i1 true, {d} %s.d, {d} %s.d\n  %c = select i1 true, {d} %c.d, {d} %c.d"
    if item_bytes == 4:
        load = f"  %narrow = load {v}, ptr %from\n  %bare = fpext {v} %narrow to {d}"
        store = f"  %s = fptrunc {d} %s.d to {v}\n  %c = fptrunc {d} %c.d to {v}"
    return f"""
define void @sines.cosines(ptr %ctx, ptr %trig, ptr %angles, ptr %offsets, i64 %count) {{
entry:
  br label %loop
loop:
  %n = phi i64 [0, %entry], [%n1, %end]
  %where = getelementptr i32, ptr %angles, i64 %n
  %slot = load i32, ptr %where
  %from = getelementptr {v}, ptr %ctx, i32 %slot
{load}
  %which = getelementptr double, ptr %offsets, i64 %n
  %offset = load double, ptr %which
  %first = insertelement {d} poison, double %offset, i32 0
  %all = shufflevector {d} %first, {d} poison, <{lanes} x i32> zeroinitializer
  %given = fadd {d} %bare, %all
{writer.write_body()}
  br i1 %slow, label %far, label %end, !prof !0
far:
{writer.write_slow_call("pair")}
  %s.slow = extractvalue {{{d}, {d}}} %pair, 0
  %c.slow = extractvalue {{{d}, {d}}} %pair, 1
  br label %end
end:
  %s.d = phi {d} [%sin.fast, %loop], [%s.slow, %far]
  %c.d = phi {d} [%cos.fast, %loop], [%c.slow, %far]
{store}
  %n2 = mul i64 %n, 2
  %to.s = getelementptr {v}, ptr %trig, i64 %n2
  store {v} %s, ptr %to.s
  %n21 = add i64 %n2, 1
  %to.c = getelementptr {v}, ptr %trig, i64 %n21
  store {v} %c, ptr %to.c
  %n1 = add i64 %n, 1
  %more = icmp ult i64 %n1, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
