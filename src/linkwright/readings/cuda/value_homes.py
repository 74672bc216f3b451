"""Homes of values: memory of a thread for values that wait while others need its registers.

Compilers spill registers by their own judgement, and to local memory. Where a function has more
values than a thread has registers, its source says which value leaves when: the one that is needed
last (Belady's rule). It returns from its home just before it is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush


@dataclass(frozen=True)
class ValueStatement:
    """The values that a statement computes, and those that it needs."""

    made: tuple[int, ...]
    needed: tuple[int, ...]


@dataclass
class HomePlan:
    """Before each statement: values that leave with their homes, and values that return."""

    count: int = 0
    leaving: list[list[tuple[int, int]]] = field(default_factory=list)
    returning: list[list[tuple[int, int]]] = field(default_factory=list)


def plan_homes(statements: Sequence[ValueStatement], registers: int) -> HomePlan:
    """Return where values stay such that at most `registers` of them are in registers.

    A value is stored once, since it does not change, and its home is free after its last use.
    """
    uses: dict[int, list[int]] = {}
    for place, statement in enumerate(statements):
        for value in statement.needed:
            uses.setdefault(value, []).append(place)
    for places in uses.values():
        places.reverse()
    plan, inside, homes, free = HomePlan(), set[int](), dict[int, int](), list[int]()
    for statement in statements:
        leaving: list[tuple[int, int]] = []
        returning = [(x, homes[x]) for x in statement.needed if x not in inside]
        inside.update(statement.needed)
        made = [x for x in statement.made if x in uses]
        while len(inside) + len(made) > registers:
            others = inside.difference(statement.needed)
            if not others:
                break
            last = max(others, key=lambda x: uses[x][-1])
            inside.remove(last)
            if last not in homes:
                homes[last] = heappop(free) if free else plan.count
                plan.count = max(plan.count, homes[last] + 1)
                leaving.append((last, homes[last]))
        plan.leaving.append(leaving)
        plan.returning.append(returning)
        for value in statement.needed:
            uses[value].pop()
            if not uses[value]:
                inside.discard(value)
                if value in homes:
                    heappush(free, homes.pop(value))
        inside.update(made)
    return plan
