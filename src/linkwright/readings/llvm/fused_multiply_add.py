"""Products that are absorbed by fused multiply–adds.

LLVM fuses a product that is used once. A product that is used only in sums, but in several, also saves an instruction
if it is computed inside each of them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from ...tape import OPERATION_ARITY, Op, Tape


@dataclass(frozen=True)
class MachineFusedMultiplyAdd:
    """The operation ±(a·b) ± c in place of a sum of the product and c."""

    product: int
    minus_product: bool
    other: int
    minus_other: bool


def find_machine_fused_multiply_adds(
    tape: Tape,
) -> tuple[dict[int, MachineFusedMultiplyAdd], set[int]]:
    """The sums that become fused, and the products that are then unused."""
    users = _machine_instruction_users(tape)
    outputs = {v for result in tape.results for v in result.tolist()}
    sums: dict[int, MachineFusedMultiplyAdd] = {}
    gone: set[int] = set()
    candidates = [k for k in users if tape.operations[k] is Op.MUL and k not in outputs]
    for product in sorted(candidates, key=lambda k: (len(users[k]), -k)):
        places = [_fuse_into_sum(tape, user, product) for user in users[product]]
        taken = any(user in sums for user in users[product])
        if all(place is not None for place in places) and not taken:
            gone.add(product)
            sums |= {
                user: place
                for user, place in zip(users[product], places, strict=True)
                if place is not None
            }
    return sums, gone


def _machine_instruction_users(tape: Tape) -> dict[int, list[int]]:
    """The instructions that use each value."""
    users: defaultdict[int, list[int]] = defaultdict(list)
    for k, (op, operands) in enumerate(zip(tape.operations, tape.operands, strict=True)):
        if op is not Op.INPUT:
            for a in operands[: OPERATION_ARITY[op]]:
                users[a].append(k)
    return users


def _fuse_into_sum(tape: Tape, user: int, product: int) -> MachineFusedMultiplyAdd | None:
    """The fused form of a sum with a product; None if it is not a sum, or twice the product."""
    op, (a, b, _) = tape.operations[user], tape.operands[user]
    minus = op is Op.SUB
    if not (minus or op is Op.ADD) or a == b:
        return None
    if product == a:
        return MachineFusedMultiplyAdd(product, False, b, minus)
    return MachineFusedMultiplyAdd(product, minus, a, False)
