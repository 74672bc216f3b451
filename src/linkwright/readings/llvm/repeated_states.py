"""LLVM IR of the last block of a batch, which is whole where it may be: it repeats states of the block before.

That takes less time than to read and write a few states entry by entry. A state has the same result wherever it is
computed, so that nothing changes; only where an output lies in an input (NumPy computes in place if asked to) the
states of the block before are gone.
"""

from __future__ import annotations

from collections.abc import Sequence


def first_state_ir(tag: str, offset: str, lanes: int, *, can_repeat: bool) -> str:
    """%first: the first state of a block, `offset` states after %n."""
    if not can_repeat:
        return f"  %first{tag} = add i64 %n, {offset}"
    return f"""  %usual.first{tag} = add i64 %n, {offset}
  %rest{tag} = sub i64 %end, %usual.first{tag}
  %is.part{tag} = icmp ult i64 %rest{tag}, {lanes}
  %is.moved{tag} = and i1 %is.part{tag}, %has.room
  %first{tag} = select i1 %is.moved{tag}, i64 %last.first, i64 %usual.first{tag}"""


def has_room_ir(sizes: Sequence[int], inputs: int, lanes: int) -> str:
    """The function `@has.room`: whether states [start, end) are a block or more of contiguous rows, and no output lies in
    an input. Operands have rows of `sizes` bytes; the first ones are `inputs`."""
    lines = list[str]()
    for k, size in enumerate(sizes):
        lines += [
            f"  %pa{k} = getelementptr ptr, ptr %args, i64 {k}",
            f"  %array{k} = load ptr, ptr %pa{k}",
            f"  %ps{k} = getelementptr i64, ptr %steps, i64 {k}",
            f"  %step{k} = load i64, ptr %ps{k}",
            f"  %low.jump{k} = mul i64 %start, %step{k}",
            f"  %high.jump{k} = mul i64 %last, %step{k}",
            f"  %low{k} = getelementptr i8, ptr %array{k}, i64 %low.jump{k}",
            f"  %row{k} = getelementptr i8, ptr %array{k}, i64 %high.jump{k}",
            f"  %high{k} = getelementptr i8, ptr %row{k}, i64 {size}",
            f"  %ascends{k} = icmp sge i64 %step{k}, 0",
        ]
    conditions = [f"%ascends{k}" for k in range(len(sizes))]
    for one in range(inputs):
        for other in range(inputs, len(sizes)):
            pair = f"{one}.{other}"
            conditions.append(f"%apart{pair}")
            lines += [
                f"  %below{pair} = icmp ule ptr %high{one}, %low{other}",
                f"  %above{pair} = icmp ule ptr %high{other}, %low{one}",
                f"  %apart{pair} = or i1 %below{pair}, %above{pair}",
            ]
    room = "true"
    for n, condition in enumerate(conditions):
        lines.append(f"  %room{n} = and i1 {room}, {condition}")
        room = f"%room{n}"
    newline = "\n"
    return f"""
define internal i1 @has.room(ptr %args, ptr %steps, i64 %start, i64 %end, i1 %tight) noinline {{
entry:
  %range = sub i64 %end, %start
  %last = sub i64 %end, 1
  %is.long = icmp ugt i64 %range, {lanes}
  %is.plain = and i1 %is.long, %tight
  br i1 %is.plain, label %compare, label %no
compare:
{newline.join(lines)}
  ret i1 {room}
no:
  ret i1 false
}}
"""
