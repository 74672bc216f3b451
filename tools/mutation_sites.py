"""Places of a source file where a small mistake can be made, and the text with that mistake.

Not touched: docstrings and other strings, annotations, decorators, assertions (also `strict=True`),
messages of errors and warnings, imports for type checkers, and what only prints (`__repr__`,
`__str__`, `summary`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

COMPARISONS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "is": "is not", "is not": "is", "in": "not in", "not in": "in",
}  # fmt: skip
ARITHMETIC = {
    "+": "-", "-": "+", "*": "/", "/": "*", "//": "/", "%": "*", "**": "*", "@": "*",
    "&": "|", "|": "&", "<<": ">>", ">>": "<<", "^": "|",
}  # fmt: skip
PRINTING = {"__repr__", "__str__", "_repr_html_", "_repr_svg_", "summary"}
NOT_SWAPPED = {
    "isinstance", "issubclass", "getattr", "hasattr", "cast", "TypeVar", "NewType",
    "min", "max", "fmin", "fmax", "minimum", "maximum", "gcd", "hypot", "dot",
}  # fmt: skip
"""Functions of types, and those that do not mind the order of their arguments."""


@dataclass(frozen=True)
class Mutant:
    """One change of one file: `text[start:end]` becomes `new`."""

    file: str
    text: str
    start: int
    end: int
    new: str
    statement: tuple[int, int]
    """First and last line of the statement, or of its head."""

    @property
    def mutated(self) -> str:
        return self.text[: self.start] + self.new + self.text[self.end :]

    @property
    def line(self) -> int:
        return self.text.count("\n", 0, self.start) + 1

    @cached_property
    def lines(self) -> tuple[str, str]:
        """The changed lines before and after, without indentation."""
        first = self.text.rfind("\n", 0, self.start) + 1
        last = self.text.find("\n", self.end)
        before, after = self.text[first : self.start], self.text[self.end : last]
        old, new = before + self.text[self.start : self.end] + after, before + self.new + after
        return (" ".join(old.split()), " ".join(new.split()))

    @property
    def shape(self) -> str:
        """The change with all names left out, so that renaming does not alter it."""
        return " -> ".join(without_names(line) for line in self.lines)


def without_names(text: str) -> str:
    return re.sub(r"[^\W\d]\w*", "_", text)


def package_of(file: str) -> str:
    """The package of a file of the source; modules beside the packages are one of their own."""
    parts = Path(file).parts[2:]
    return parts[0] if len(parts) > 1 else "(modules)"


def find_mutants(file: str, text: str) -> list[Mutant]:
    """Every mutant of a file, in the order of the text."""
    walker = _Walker(file, text)
    walker.visit(ast.parse(text))
    return sorted(walker.mutants, key=lambda m: (m.start, m.new))


class _Walker(ast.NodeVisitor):
    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text
        self.mutants: list[Mutant] = []
        self.statement = (1, 1)
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.source_lines = text.splitlines()

    def offset(self, line: int, column: int) -> int:
        """The place in the text; columns of syntax trees count bytes."""
        before = self.source_lines[line - 1].encode()[:column].decode()
        return self.starts[line - 1] + len(before)

    def span(self, node: ast.AST) -> tuple[int, int]:
        return (
            self.offset(node.lineno, node.col_offset),  # type: ignore[attr-defined]
            self.offset(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
        )

    def add(self, start: int, end: int, new: str) -> None:
        self.mutants.append(Mutant(self.file, self.text, start, end, new, self.statement))

    def replace_between(self, left: ast.AST, right: ast.AST, table: dict[str, str]) -> None:
        """The operator between two nodes by another one."""
        start, end = self.span(left)[1], self.span(right)[0]
        gap = self.text[start:end]
        found = re.search(r"is\s+not\b|not\s+in\b|[a-z]+|[-+*/%@<>=!&|^]+", gap)
        if found and (old := " ".join(found[0].split())) in table:
            self.add(start + found.start(), start + found.end(), table[old])

    # -- what is left alone ----------------------------------------------------------------

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if isinstance(body, list) else node.end_lineno
            self.statement = (node.lineno, max(node.lineno, last or 0))
        super().visit(node)

    def _leave(self, node: ast.AST) -> None:
        pass

    visit_JoinedStr = visit_Assert = visit_Raise = visit_Import = _leave
    visit_ImportFrom = visit_Global = _leave

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name not in PRINTING:
            for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                self.visit(default)
            for child in node.body:
                self.visit(child)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for child in node.body:
            self.visit(child)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg != "strict":  # of zip: an assertion
            self.visit(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if not (isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"):
            self.visit(node.value)

    # -- what is changed -------------------------------------------------------------------

    def visit_If(self, node: ast.If | ast.While | ast.IfExp) -> None:
        if "TYPE_CHECKING" in ast.unparse(node.test) or "__name__" in ast.unparse(node.test):
            return
        simple = isinstance(node.test, ast.Compare) and len(node.test.ops) == 1
        if not simple and not isinstance(node.test, ast.UnaryOp | ast.Constant):
            start, end = self.span(node.test)
            self.add(start, end, f"not ({self.text[start:end]})")
        self.generic_visit(node)

    visit_While = visit_IfExp = visit_If

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, right in pairwise(operands):
            self.replace_between(left, right, COMPARISONS)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        texts = ast.JoinedStr | ast.Constant
        if not any(
            isinstance(side, texts) and isinstance(getattr(side, "value", ""), str)
            for side in (node.left, node.right)
        ):
            self.replace_between(node.left, node.right, ARITHMETIC)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        table = {f"{old}=": f"{new}=" for old, new in ARITHMETIC.items()}
        self.replace_between(node.target, node.value, table)
        self.visit(node.value)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in pairwise(node.values):
            self.replace_between(left, right, {"and": "or", "or": "and"})
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        start, width = self.span(node)[0], 4 if isinstance(node.op, ast.Not) else 1
        if isinstance(node.op, ast.Not | ast.USub):
            self.add(start, start + width, "")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self.add(*self.span(node), str(not value))
        elif isinstance(value, int | float):
            self.add(*self.span(node), "0" if value == 1 else repr(value + 1))

    def visit_Break(self, node: ast.Break) -> None:
        self.add(*self.span(node), "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self.add(*self.span(node), "break")

    def visit_Return(self, node: ast.Return) -> None:
        value = node.value
        if value and not (isinstance(value, ast.Constant) and value.value in (None, False)):
            self.add(*self.span(value), "None")
        if value:
            self.visit(value)

    def visit_Call(self, node: ast.Call) -> None:
        base = ast.unparse(node.func).split(".")[-1]
        if base in {"warn", "debug", "info"} or base.endswith(("Warning", "Error")):
            return
        plain = [a for a in node.args if not isinstance(a, ast.Starred)]
        if len(plain) >= 2 and plain[:2] == node.args[:2] and base not in NOT_SWAPPED:
            (start, middle), (other, end) = self.span(plain[0]), self.span(plain[1])
            text = self.text
            if text[start:middle] != text[other:end]:
                self.add(start, end, text[other:end] + text[middle:other] + text[start:middle])
        self.generic_visit(node)


def walk_sources(root: Path) -> Iterator[tuple[str, str]]:
    """All source files of the package by their paths in the repository."""
    for path in sorted((root / "src" / "linkwright").rglob("*.py")):
        yield str(path.relative_to(root)), path.read_text()
