"""Tapes as C99 for batches: several states in the lanes of one vector register.

Vectors are those of GCC and Clang; with other compilers, a batch is a loop over its states.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from ...tape import OPERATION_ARITY, Op
from .c_code import (
    c_batch_parameters,
    c_number,
    write_c_comment,
    write_c_helpers,
    write_c_prototype,
    write_unused_ports,
)
from .c_vector_sines import LONE_SINE, VECTOR_SINES
from .exported_code import ExportedCode, ExportedFunction
from .tape_statements import (
    HELPER_FUNCTIONS,
    MATH_FUNCTIONS,
    CodeLanguage,
    CodeStatement,
    list_tape_statements,
    used_tape_operations,
)

TILE_SIZE = 32
"""Entries of an output that GCC's code stores by one call, from the first cache; smaller outputs
are stored entry by entry."""

_PRELUDE = """\
#include "{stem}.h"

#include <math.h>
{headers}
#if defined(__GNUC__) && !defined({macro}_NO_SIMD)

/* One vector register: `lanes` holds the same value of LANES states. */
#if defined(__AVX512F__)
#define LANE_BYTES 64
#elif defined(__AVX__)
#define LANE_BYTES 32
#else
#define LANE_BYTES 16
#endif
#define LANES (LANE_BYTES / {size})
typedef {kind} lanes __attribute__((vector_size(LANE_BYTES)));

static inline lanes load_lanes(const {kind} *first, size_t stride)
{{
    lanes y;
    for (size_t k = 0; k < LANES; k++)
        y[k] = first[k * stride];
    return y;
}}
"""
_STORE = """\
static inline void store_lanes(%(kind)s *first, size_t stride, lanes x)
{
    for (size_t k = 0; k < LANES; k++)
        first[k * stride] = x[k];
}
"""
_STORE_TILE = """\
/*
 * Entries of a large output wait in a tile, and a loop stores them: GCC takes five times as long
 * for stores of single lanes in a long function, and its code is slower. Clang stores them at once.
 */
#ifdef __clang__
#define keep_entry(first, stride, entry, tile, n, x) store_lanes(first + entry, stride, x)
#define store_tile(first, stride, places, tile, count) ((void)(places), (void)(tile))
#else
#define keep_entry(first, stride, entry, tile, n, x) tile[n] = x
static __attribute__((noinline)) void store_tile(
    %(kind)s *restrict first, size_t stride, const unsigned *places, const lanes *tile,
    size_t count)
{
    for (size_t n = 0; n < count; n++)
        for (size_t k = 0; k < LANES; k++)
            first[places[n] + k * stride] = tile[n][k];
}
#endif
"""
_SPREAD = """\
static inline lanes spread(%(kind)s x)
{
    return x - (lanes){0};
}
"""


def write_c_batch(code: ExportedCode) -> str:
    """Return the source of the functions for batches of states."""
    kind = code.precision
    used = used_tape_operations([function.tape for function in code.functions])
    heading = [*code.heading, "", f"Define {code.stem.upper()}_NO_SIMD for plain loops."]
    has_sines = kind == "double" and bool(used & {Op.SIN, Op.COS})
    headers = "#include <stdint.h>\n#include <string.h>\n" if has_sines else ""
    size = 4 if kind == "float" else 8
    prelude = _PRELUDE.format(
        stem=code.stem, macro=code.stem.upper(), kind=kind, size=size, headers=headers
    )
    bodies = [line for function in code.functions for line in _write_block(code, function)]
    lines = [*write_c_comment(heading), prelude]
    helpers = {"store_lanes(": _STORE, "store_tile(": _STORE_TILE, "spread(": _SPREAD}
    written = "\n".join(bodies)
    written += _STORE_TILE if "store_tile(" in written else ""
    for name, text in helpers.items():
        if name in written:
            lines.append(text % {"kind": kind})
    if has_sines:
        alone = [name for name in ("sin", "cos") if any(f"_{name}(" in line for line in bodies)]
        lines += [VECTOR_SINES, *(LONE_SINE.format(name=name) for name in alone)]
    lines += [*_write_lane_helpers(used, kind), *bodies, "#endif", ""]
    for function in code.functions:
        lines += [*_write_loop(code, function), ""]
    return "\n".join(lines)


def _lane_language(kind: str) -> CodeLanguage:
    """How statements on vectors are written: functions have names that begin with lanes_."""
    names = MATH_FUNCTIONS | HELPER_FUNCTIONS
    return CodeLanguage(
        {op: f"lanes_{name}" for op, name in names.items()},
        lambda value: c_number(value, kind),
        lambda name, port, entry: f"load_lanes({name} + {entry}, {port.size})",
        lambda value: f"spread({c_number(value, kind)})",
        names_inputs=True,
        has_sine_pairs=kind == "double",
    )


def _write_lane_helpers(used: set[Op], kind: str) -> list[str]:
    """Return functions of vectors that apply a function to each lane."""
    lines = write_c_helpers(used, kind)
    suffix = "f" if kind == "float" else ""
    for op, name in (MATH_FUNCTIONS | HELPER_FUNCTIONS).items():
        if op not in used or (kind == "double" and op in (Op.SIN, Op.COS)):
            continue
        letters = "xyz"[: OPERATION_ARITY[op]]
        scalar = f"{name}{suffix}" if op in MATH_FUNCTIONS else f"lw_{name}"
        lines += [
            f"static inline lanes lanes_{name}({', '.join(f'lanes {x}' for x in letters)})",
            "{",
            "    lanes r;",
            "    for (size_t k = 0; k < LANES; k++)",
            f"        r[k] = {scalar}({', '.join(f'{x}[k]' for x in letters)});",
            "    return r;",
            "}",
            "",
        ]
    return lines


def _write_block(code: ExportedCode, function: ExportedFunction) -> list[str]:
    """Return the function that computes LANES states."""
    names = function.port_names
    statements = list_tape_statements(
        function.tape, _lane_language(code.precision), names[: len(function.inputs)], names
    )
    parameters = c_batch_parameters(function, code.precision)[1:]
    tiles = [note.port.size > TILE_SIZE for note in function.outputs]
    lines = [write_c_prototype("static void", f"{function.identifier}_lanes", parameters), "{"]
    lines += [f"    {line}" for line in write_unused_ports(function)]
    lines += [f"    {line}" for line in _write_tiles(function, statements, tiles)]
    stored = [0] * len(tiles)
    for one in statements:
        output, _ = one.output
        if not one.name and tiles[output]:
            lines += [f"    {x}" for x in _write_tile_entry(one, function, stored[output])]
            stored[output] += 1
        else:
            lines.append(f"    {_write_lane_statement(one, function)}")
    return [*lines, "}", ""]


def _write_tiles(
    function: ExportedFunction, statements: Sequence[CodeStatement], tiles: Sequence[bool]
) -> list[str]:
    """Return the tiles of large outputs, and the places of their entries in the order in which they
    are computed."""
    lines: list[str] = []
    for k, note in enumerate(function.outputs):
        if tiles[k]:
            places = [str(one.output[1]) for one in statements if one.output[0] == k]
            text = f"static const unsigned {note.name}_places[] = {{{', '.join(places)}}};"
            lines += textwrap.wrap(text, 96, subsequent_indent="    ")
            lines.append(f"lanes {note.name}_tile[{TILE_SIZE}];")
    return lines


def _write_tile_entry(statement: CodeStatement, function: ExportedFunction, nth: int) -> list[str]:
    """Return the assignment of the nth entry of an output that has a tile; full tiles are
    stored."""
    note, at = function.outputs[statement.output[0]], nth % TILE_SIZE
    size, entry, tile = note.port.size, statement.output[1], f"{note.name}_tile"
    lines = [f"keep_entry({note.name}, {size}, {entry}, {tile}, {at}, {statement.text});"]
    if at == TILE_SIZE - 1 or nth == size - 1:
        places = f"{note.name}_places + {nth - at}"
        given = f"{note.name}, {size}, {places}, {tile}, {at + 1}"
        lines.append(f"store_tile({given});")
    return lines


def _write_lane_statement(statement: CodeStatement, function: ExportedFunction) -> str:
    """Return one assignment on vectors."""
    if statement.cosine:
        pair = f"&{statement.name}, &{statement.cosine}"
        return (
            f"lanes {statement.name}, {statement.cosine}; lanes_sincos({statement.text}, {pair});"
        )
    if statement.name:
        return f"const lanes {statement.name} = {statement.text};"
    output, entry = statement.output
    note = function.outputs[output]
    return f"store_lanes({note.name} + {entry}, {note.port.size}, {statement.text});"


def _write_loop(code: ExportedCode, function: ExportedFunction) -> list[str]:
    """Return the function for a batch: whole vectors, the last one moved back to end with it."""
    name = f"{code.stem}_{function.identifier}"
    shifted = [f"{note.name} + state * {note.port.size}" for note in function.inputs]
    one = [
        place if note.port.shape else f"{note.name}[state]"
        for note, place in zip(function.inputs, shifted, strict=True)
    ]
    results = [f"{note.name} + state * {note.port.size}" for note in function.outputs]
    prototype = write_c_prototype(
        "void", f"{name}_batch", c_batch_parameters(function, code.precision)
    )
    return [
        prototype,
        "{",
        "#ifdef LANES",
        "    if (count >= LANES) {",
        "        for (size_t state = 0; state < count; state += LANES) {",
        "            state = state + LANES > count ? count - LANES : state;",
        f"            {function.identifier}_lanes({', '.join([*shifted, *results])});",
        "        }",
        "        return;",
        "    }",
        "#endif",
        "    for (size_t state = 0; state < count; state++)",
        f"        {name}({', '.join([*one, *results])});",
        "}",
    ]
