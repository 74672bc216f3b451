"""`linkwright assemble`: configurations in which loops and constraints close."""

from __future__ import annotations

from ..errors import LinkwrightError
from ..expressions import parse, to_float
from ..kinematics.assembly import assemble, assemblies
from ..kinematics.assembly_search import far_moves
from ..kinematics.constraint_system import constraint_system
from ..kinematics.mobility import mobility
from ..mechanism import Mechanism, names_of
from .inputs import assignments, numbers
from .show import emit_json, print_table


def run(
    mechanism: Mechanism,
    words: list[str],
    hold: list[str],
    ranges: list[str],
    time: float,
    every: bool,
    as_json: bool,
) -> None:
    values = numbers(mechanism, words)
    asked = {name: _range(name, text) for name, text in assignments(ranges).items()}
    if every and asked:
        raise LinkwrightError("--all and --range are both given", remedy="give one of them")
    if every:
        found = assemblies(mechanism, values, hold, time)
    else:
        found = [assemble(mechanism, values, hold, asked or None, time)]
    names = names_of(mechanism).q
    if as_json:
        report = mobility(mechanism, found[0], time)
        emit_json({
            "q_names": list(names), "q": [q.tolist() for q in found],
            "freedom": report.freedom, "redundant": list(report.redundant),
        })  # fmt: skip
        return
    heads = ["coordinate", *(f"branch {k}" for k in range(1, len(found) + 1))]
    rows = [
        (name, *(f"{q[k]:.12g}" for q in found)) for k, name in enumerate(names)
    ]  # fmt: skip
    print_table(heads if every else ["coordinate", "value (rad, m)"], rows)
    print(mobility(mechanism, found[0], time))
    for move in [] if every else far_moves(constraint_system(mechanism), found[0], list(values)):
        print(f"assembly moved {move}")


def _range(name: str, text: str) -> tuple[float, float]:
    low, colon, high = text.partition(":")
    if not colon:
        raise LinkwrightError(f"'{name}={text}' is no range", remedy=f"write {name}=0:90deg")
    return to_float(parse(low)), to_float(parse(high))
