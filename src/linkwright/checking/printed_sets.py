"""Sets of equations as `linkwright derive` prints them, in the notation of the checker.

The first line of a set names the formulation, "elbow, 2 degrees of freedom, by kane", and becomes
the heading [by kane]; so does the title of a set that Python prints. Indented lines are equations;
those that are indented twice define names for parts of the lines below them. Headings, sentences
and the list of symbols are left out. LaTeX begins with the comment "% elbow, by kane".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..formulations import FORMULATIONS

PRINTED_HEADING_PREFIX = "by "
LATEX_HEADING_SUFFIX = ", LaTeX"
"""In LaTeX, indices have no brackets: f_1 is f[1]."""
_LATEX_STEPS = re.compile(r"\b([A-Za-z])1 to \1(\d+) are parts of them")
_LATEX_FIRST_LINE = re.compile(rf"(?m)^% .*, by ({'|'.join(FORMULATIONS)})[ \t]*$")
_LATEX_FORMULAS = re.compile(
    r"\\begin\{align\*\}.*?\\end\{align\*\}|\\begin\{array\}\{l\|l+\}(?P<table>.*?)\\end\{array\}",
    re.S,
)
_LATEX_SUPERSCRIPT = re.compile(r"(\\alpha_\{\\mathrm\{\d+,[xyz])\}\}\^\{?(\d+)\}?")
_LATEX_DUAL_VECTOR = re.compile(r"(?<![\w\\_])(?<!_\{)([Vxyz])_(?=[A-Za-z]|\{[A-Za-z\\])")
_FIRST_LINE = re.compile(rf"\S.*, \d+ degrees? of freedom, by ({'|'.join(FORMULATIONS)})\s*")
_COUNTS = re.compile(r"\d+ equations?, \d+ unknowns?, \d+ states?")
_TITLES = {
    "Equations of motion": "recursive",
    "Kinematic influence coefficients": "influence",
    "The recurrent method": "recurrent",
    "Approximate dynamics": "approximate",
    "Newton's and Euler's equations of free bodies": "newton_euler",
    "d'Alembert's principle with dual vectors": "kane",
    "Hamilton's canonical equations": "hamilton",
    "Lagrange's equations with multipliers": "multipliers",
    "Lagrange's equations, step by step": "lagrange",
}
"""The titles of printed sets that have no first line of the command, with a formulation whose names
these are."""
_SYMBOLS_TITLE, _SPEEDS_TITLE = "Symbols", "Generalized speeds:"
_TABLE_CORNER = re.compile(r"  speed   \S")
_COLUMN_GAP = re.compile(r" {3,}")
_OTHERS_ARE_ZERO = "  all others = 0"
_STEP_INDENT = "    "
_LINE_NUMBER = re.compile(r"^(.*\S) {4}\((\w+)\)$")


def formulation_of_heading(heading: str) -> str:
    """The formulation whose printed equations stand under a heading; empty for other headings."""
    name = heading.removeprefix(PRINTED_HEADING_PREFIX).removesuffix(LATEX_HEADING_SUFFIX)
    is_printed = heading.startswith(PRINTED_HEADING_PREFIX) and name in FORMULATIONS
    return name if is_printed else ""


def rewrite_printed_sets(text: str) -> str:
    """The text with printed sets in the notation of the checker; what stands before the first set
    stays as it is."""
    if _LATEX_FIRST_LINE.search(text):
        return _rewrite_latex_sets(text)
    before: list[str] = []
    sets: list[tuple[str, list[str]]] = []
    lines = text.splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        title = _formulation_of_title(line) if _COUNTS.match(below) else ""
        if first := _FIRST_LINE.fullmatch(line):
            sets.append((first[1], []))
        elif title and not (sets and not sets[-1][1]):
            sets.append((title, []))
        else:
            (sets[-1][1] if sets else before).append(line)
    if not sets:
        return text
    for by, lines in sets:
        before += [f"[{PRINTED_HEADING_PREFIX}{by}]", *_rewrite_printed_lines(lines)]
    return "\n".join(before)


def _rewrite_latex_sets(text: str) -> str:
    """The text with printed LaTeX as headings and formulas, without laws and sentences."""
    before, *parts = _LATEX_FIRST_LINE.split(text)
    made = [before] if before.strip() else []
    for by, body in zip(parts[::2], parts[1::2], strict=True):
        made.append(f"[{PRINTED_HEADING_PREFIX}{by}{LATEX_HEADING_SUFFIX}]")
        for found in _LATEX_FORMULAS.finditer(_define_latex_steps(body)):
            formula = found[0] if found["table"] is None else _latex_table(found["table"])
            formula = _LATEX_SUPERSCRIPT.sub(r"\1,\2}}", formula.replace(r"\_", ""))
            made.append(_LATEX_DUAL_VECTOR.sub(r"\\hat{\1}_", formula) if by == "kane" else formula)
    return "\n\n".join(made)


def _define_latex_steps(body: str) -> str:
    """The LaTeX of a set with x_1, x_2, … of long sections as definitions with names of their
    own: x_1 may be a coordinate elsewhere."""
    made = []
    for number, section in enumerate(re.split(r"(?=\\paragraph)", body)):
        if found := _LATEX_STEPS.search(section):
            letter, count = found[1], int(found[2])
            steps = "|".join(str(k) if k < 10 else rf"\{{{k}\}}" for k in range(1, count + 1))
            own = re.compile(rf"(?<![\w\\]){letter}_({steps})(?!\d)")
            section = own.sub(lambda x, n=number: _step_name(n, x[1]), section)
            for k in range(1, count + 1):
                left = f"  {_step_name(number, str(k))} &"
                section = section.replace(f"{left}=", f"{left}:=", 1)
        made.append(section)
    return "".join(made)


def _step_name(section: int, step: str) -> str:
    """The name of a step of a section."""
    return rf"\mathrm{{step}}_{{{section},{step.strip('{}')}}}"


def _latex_table(table: str) -> str:
    """The partial velocities in a printed table, row by row, as equations."""
    head, *rows = (row.replace(r"\hline", "").split("&") for row in table.split(r"\\"))
    points = [re.sub(r"^V_|[{}]|\\mathrm", "", cell.strip()) for cell in head[1:]]
    lines = [
        rf"\hat{{v}}_{{{r}}}^{{\mathrm{{{point}}}}} &= {cell.strip()}"
        for r, row in enumerate(rows, 1)
        for point, cell in zip(points, row[1:], strict=True)
    ]
    body = " \\\\\n".join(lines)
    return f"\\begin{{align*}}\n{body}\n\\end{{align*}}"


def _formulation_of_title(line: str) -> str:
    """The formulation whose equations have this title; empty for other lines."""
    return next((by for title, by in _TITLES.items() if line.startswith(title)), "")


def _rewrite_printed_lines(lines: list[str]) -> Iterator[str]:
    """The equations of a set, section by section."""
    end = lines.index(_SYMBOLS_TITLE) if _SYMBOLS_TITLE in lines else len(lines)
    sections: list[list[str]] = [[]]
    speeds = None
    for line in lines[:end]:
        if not line.startswith("  "):
            speeds = len(sections) if line.startswith(_SPEEDS_TITLE) else speeds
            sections.append([])
        elif line != _OTHERS_ARE_ZERO:
            sections[-1].append(line)
    sections = [[*_equation_lines(section)] for section in sections]
    for k, section in enumerate(sections):
        others = "\n".join(x for j, other in enumerate(sections) if j != k for x in other)
        yield from _define_steps(section, others, k)
        if k == speeds:
            yield from _number_speeds(section)


def _number_speeds(section: list[str]) -> Iterator[str]:
    """u1 := w for a speed of another name, by whose number partial velocities are printed."""
    names = [line.split(" = ")[0].strip() for line in section]
    speeds = [name for name in dict.fromkeys(names) if not name.startswith("d")]
    for k, name in enumerate(speeds, 1):
        if f"u{k}" not in names:
            yield f"u{k} := {name}"


def _equation_lines(lines: list[str]) -> Iterator[str]:
    """The equations of a section, without its sentences; tables entry by entry."""
    table = next((k for k, line in enumerate(lines) if _TABLE_CORNER.match(line)), len(lines))
    for line in lines[:table]:
        if " = " in line and not line.endswith("."):
            numbered = _LINE_NUMBER.fullmatch(line)
            yield numbered[1] if numbered else line
    yield from _table_equations([_COLUMN_GAP.split(line.strip()) for line in lines[table:]])


def _table_equations(grid: list[list[str]]) -> Iterator[str]:
    """v1_P = … for the partial velocity by the first speed in the column of V_P."""
    if grid and grid[0][1].startswith("V_"):
        grid = [list(row) for row in zip(*grid, strict=True)]
    for point, *cells in grid[1:]:
        for r, cell in enumerate(cells, 1):
            yield f"  v{r}_{point.removeprefix('V_')} = {cell}"


def _define_steps(section: list[str], others: str, number: int) -> Iterator[str]:
    """The lines of a section, its steps as definitions; steps get a name of their own where other
    sections use theirs."""
    steps = [line for line in section if line.startswith(_STEP_INDENT)]
    names = [line.split(" = ")[0].strip() for line in steps]
    used = set(re.findall(r"\w+", others))
    renamed = {name: f"{name}_of_{number}" for name in names if name in used}
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, renamed))})\b") if renamed else None
    for line in section:
        own = pattern.sub(lambda match: renamed[match[1]], line) if pattern else line
        yield own.strip().replace(" = ", " := ", 1) if line in steps else own.strip()
