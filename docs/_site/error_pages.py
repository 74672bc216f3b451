"""The index of errors: every message of the package under the class that is raised."""

from __future__ import annotations

import ast
import inspect
from collections import defaultdict
from pathlib import Path

import linkwright as lw
from linkwright import errors

from .api_pages import put

SOURCE = Path(lw.__file__).parent


def write(folder: Path) -> None:
    """Writes generated/errors.md."""
    found: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    for path in sorted(SOURCE.rglob("*.py")):
        for name, what, remedy in messages_of(path):
            found[name].add((path.relative_to(SOURCE).parts[0].removesuffix(".py"), what, remedy))
    text = ""
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and kind.__module__ == errors.__name__:
            text += class_text(name, kind, sorted(found.get(name, ())))
    put(folder / "errors.md", "<!-- begin -->\n" + text)


def class_text(name: str, kind: type, rows: list[tuple[str, str, str]]) -> str:
    first = (inspect.getdoc(kind) or "").split("\n\n")[0]
    bases = ", ".join(f"`{base.__name__}`" for base in kind.__bases__)
    text = f"\n## {name}\n\n{' '.join(first.split())} Subclass of {bases}.\n\n"
    if not rows:
        return text
    lines = "\n".join(
        f"| {cell(what)} | {cell(remedy)} | {where} |" for where, what, remedy in rows
    )
    table = f"| message | what to do | raised in |\n|---|---|---|\n{lines}\n"
    return f"{text}:::{{dropdown}} {len(rows)} messages\n:open:\n\n{table}\n:::\n"


def cell(text: str) -> str:
    return f"`{text.replace('|', '¦').replace('`', chr(39))}`" if text.strip() else ""


def messages_of(path: Path) -> list[tuple[str, str, str]]:
    """(class, message, remedy) of every error that a module raises with a text of its own."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            kind = getattr(errors, node.func.id, None)
            if inspect.isclass(kind) and issubclass(kind, Exception | Warning):
                what = template(node.args[0])
                remedies = [template(k.value) for k in node.keywords if k.arg == "remedy"]
                if any(letter.isalpha() for letter in what.replace("…", "")):
                    found.append((node.func.id, what, remedies[0] if remedies else ""))
    return found


def template(node: ast.expr) -> str:
    """The text of a message, with … for what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return " ".join(node.value.split())
    if isinstance(node, ast.JoinedStr):
        parts = (p.value if isinstance(p, ast.Constant) else "…" for p in node.values)
        return " ".join("".join(map(str, parts)).split())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return template(node.left) + template(node.right)
    if isinstance(node, ast.IfExp):
        return template(node.body)
    return "…"
