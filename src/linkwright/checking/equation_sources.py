"""Sources of equations: text, files, SymPy; and findings in the order of the text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import ExpressionError, FileError
from ..expressions.tokens import shorten_expression_text
from ..mechanism import Mechanism
from ..mechanism.gallery_files import EQUATIONS_ENDING, read_gallery_equations
from .check_report import UNREADABLE, Finding
from .declarations import NO_DECLARATIONS, TextDeclarations, separate_declarations
from .printed_sets import rewrite_printed_sets
from .statement_reader import (
    MAX_TEXT_LENGTH,
    Statement,
    UnreadableStatement,
    read_statements,
    require_statement_text_size,
)
from .sympy_statements import is_sympy_input, read_sympy_statements


def read_equation_source(
    equations: object, mechanism: Mechanism
) -> tuple[Sequence[Statement | UnreadableStatement], TextDeclarations]:
    """The statements of a text, a file or SymPy expressions, and the declarations of the text."""
    if isinstance(equations, str):
        if not equations.strip():
            raise ExpressionError("the text is empty", remedy="give at least one equation")
        is_file = "=" not in equations and "\n" not in equations and len(equations) < 1000
        equations = Path(equations) if is_file else equations
    if isinstance(equations, Path):
        equations = _read_file_of_claimed_equations(equations)
    if isinstance(equations, str):
        text = rewrite_printed_sets(require_statement_text_size(equations))
        text, said = separate_declarations(text, mechanism)
        return read_statements(text, mechanism), said
    if is_sympy_input(equations):
        return read_sympy_statements(equations), NO_DECLARATIONS
    raise ExpressionError(
        f"{type(equations).__name__} is not text with equations",
        remedy="give text, the path of a file, or SymPy expressions",
    )


def _read_file_of_claimed_equations(path: Path) -> str:
    """The text of a file if it exists, otherwise the published equations of the gallery."""
    name = path.name.removesuffix(EQUATIONS_ENDING)
    if str(path) == f"{name}{EQUATIONS_ENDING}" and not path.exists():
        published = read_gallery_equations(name)
        if published is not None:
            return published
    try:
        if path.stat().st_size > 4 * MAX_TEXT_LENGTH:
            raise FileError(f"has more than {4 * MAX_TEXT_LENGTH} bytes", where=str(path))
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise FileError(
            f"cannot be read: {error.strerror}", where=str(path), remedy="give text with '='"
        ) from None
    except UnicodeDecodeError:
        raise FileError("is not UTF-8 text", where=str(path)) from None


def order_findings_of_section(
    members: Sequence[Statement | UnreadableStatement],
    origins: Sequence[Statement],
    findings: Sequence[Finding],
) -> list[Finding]:
    """The findings of a section in the order of its text, with what cannot be read."""
    found = dict(zip(dict.fromkeys(map(id, origins)), findings, strict=True))
    for line in members:
        if isinstance(line, UnreadableStatement):
            text = shorten_expression_text(" ".join(line.text.split()), 200)
            note = str(line.error)
            found[id(line)] = Finding(
                line.number,
                text,
                UNREADABLE,
                note=note,
                section=line.section,
                is_said_wrong=line.is_said_wrong,
            )
    return [found[id(line)] for line in members if id(line) in found]
