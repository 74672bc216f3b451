"""The index of errors: every message of the package under the class that is raised."""

from __future__ import annotations

import ast
import inspect
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import linkwright as lw
from linkwright import errors

from .api_pages import put

SOURCE = Path(lw.__file__).parent
MOST_CHOICES = 3
"""Texts that a part of a message may be; a part with more of them is shown as …."""


def write(folder: Path) -> None:
    """Writes generated/errors.md."""
    found: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    modules = parse_modules(SOURCE)
    index = index_modules(modules.values())
    for path, tree in modules.items():
        for name, what, remedy in messages_of(tree, index):
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


@dataclass(frozen=True)
class Raiser:
    """A class of errors, or a function that returns one: which arguments are texts.

    `message` and `remedy` are the numbers of these arguments, without `self`; `text` has the
    message that a function adds to, with a place for the argument.
    """

    kind: str
    message: int = 0
    remedy: int | None = None
    text: str = "{}"


@dataclass(frozen=True)
class ErrorIndex:
    """Everything that raises errors in some modules, and their constants that are texts."""

    raisers: dict[str, Raiser]
    constants: dict[str, list[str]]


def parse_modules(source: Path) -> dict[Path, ast.Module]:
    """The trees of all modules."""
    return {p: ast.parse(p.read_text(encoding="utf-8")) for p in sorted(source.rglob("*.py"))}


def index_modules(modules: Iterable[ast.Module]) -> ErrorIndex:
    """The classes of errors, the functions that return an error, and the texts with names."""
    public = {
        name
        for name, kind in vars(errors).items()
        if inspect.isclass(kind) and issubclass(kind, Exception | Warning)
    }
    raisers = {name: Raiser(name) for name in public}
    constants: dict[str, list[str]] = {}
    trees = list(modules)
    for node in (node for tree in trees for node in tree.body):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            constants[node.targets[0].id] = texts(node.value, {})
    nodes = [node for tree in trees for node in ast.walk(tree)]
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
            own = next((raisers[base].kind for base in bases if base in raisers), None)
            if own and node.name not in public:
                raisers[node.name] = Raiser(own)
        if isinstance(node, ast.FunctionDef) and ast.unparse(node.returns or node) == "str":
            given = [x.value for x in ast.walk(node) if isinstance(x, ast.Return) and x.value]
            known = local_texts(node, {})
            constants[f"{node.name}()"] = [text for x in given for text in texts(x, known)]
    for _ in range(2):  # a function may call another one that returns an error
        for node in nodes:
            if isinstance(node, ast.FunctionDef):
                made = raiser_of(node, raisers)
                if made:
                    raisers[node.name] = made
    return ErrorIndex(raisers, constants)


def raiser_of(function: ast.FunctionDef, raisers: dict[str, Raiser]) -> Raiser | None:
    """What a function that returns an error takes, if one of its arguments is part of the text."""
    names = [a.arg for a in function.args.args if a.arg != "self"]
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Call):
            inner = raisers.get(called_name(node.value))
            what = inner and argument(node.value, inner.message)
            if not inner or what is None:
                continue
            parts = what.values if isinstance(what, ast.JoinedStr) else [what]
            plain = [p.value if isinstance(p, ast.FormattedValue) else p for p in parts]
            given = [p.id for p in plain if isinstance(p, ast.Name) and p.id in names]
            if given:
                text = "".join(
                    str(p.value) if isinstance(p, ast.Constant)
                    else "{}" if isinstance(p, ast.Name) and p.id == given[0]
                    else "…"
                    for p in plain
                )  # fmt: skip
                remedy = names.index("remedy") if "remedy" in names else None
                return Raiser(inner.kind, names.index(given[0]), remedy, text)
    return None


def called_name(call: ast.Call) -> str:
    """The last part of the name of what is called."""
    if isinstance(call.func, ast.Name):
        return call.func.id
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def argument(call: ast.Call, place: int | None) -> ast.expr | None:
    """A positional argument of a call."""
    return call.args[place] if place is not None and len(call.args) > place else None


def messages_of(tree: ast.Module, index: ErrorIndex) -> list[tuple[str, str, str]]:
    """(class, message, remedy) of every error that a module raises with a text of its own."""
    found: list[tuple[str, str, str]] = []
    collect_messages(tree, index, index.constants, found)
    return list(dict.fromkeys(found))


def collect_messages(
    node: ast.AST,
    index: ErrorIndex,
    known: dict[str, list[str]],
    found: list[tuple[str, str, str]],
) -> None:
    """Adds the messages of a part of a module; `known` are the texts with names there."""
    if isinstance(node, ast.FunctionDef):
        known = known | local_texts(node, known)
    raiser = index.raisers.get(called_name(node)) if isinstance(node, ast.Call) else None
    what = raiser and argument(node, raiser.message)
    if raiser and what is not None:
        given = {k.arg: k.value for k in node.keywords}
        remedy = given.get("remedy") or argument(node, raiser.remedy)
        remedies = texts(remedy, known) if remedy is not None else [""]
        for text in texts(what, known):
            if any(letter.isalpha() for letter in text):
                whole = re.sub("…+", "…", raiser.text.replace("{}", text))
                found.append((raiser.kind, whole.strip(), remedies[0].strip()))
    for child in ast.iter_child_nodes(node):
        collect_messages(child, index, known, found)


def local_texts(scope: ast.AST, constants: dict[str, list[str]]) -> dict[str, list[str]]:
    """The texts that the names of a function stand for."""
    found: dict[str, list[str]] = defaultdict(list)
    for node in ast.walk(scope):
        for target, value in assignments(node):
            if isinstance(target, ast.Name):
                found[target.id] += texts(value, constants)
    return {name: [t for t in given if t != "…"] or ["…"] for name, given in found.items()}


def assignments(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """The pairs of a target and a value that a statement assigns."""
    if not isinstance(node, ast.Assign):
        return []
    found: list[tuple[ast.expr, ast.expr]] = []
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            found += zip(target.elts, node.value.elts, strict=False)
        else:
            found.append((target, node.value))
    return found


def texts(node: ast.expr, known: dict[str, list[str]]) -> list[str]:
    """The texts that an expression may be, with … for what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [re.sub(r"\s+", " ", node.value)]
    if isinstance(node, ast.JoinedStr):
        parts = [
            [str(p.value)] if isinstance(p, ast.Constant) else texts(p.value, known)
            for p in node.values
            if isinstance(p, ast.Constant | ast.FormattedValue)
        ]
        choices = [part if len(part) <= MOST_CHOICES else ["…"] for part in parts]
        return [re.sub(r"\s+", " ", "".join(one)) for one in product(*choices)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [a + b for a in texts(node.left, known) for b in texts(node.right, known)]
    if isinstance(node, ast.IfExp):
        return texts(node.body, known) + texts(node.orelse, known)
    if isinstance(node, ast.Name):
        return known.get(node.id, ["…"])
    if isinstance(node, ast.Dict):
        return [text for value in node.values for text in texts(value, known)]
    if isinstance(node, ast.Subscript):
        return texts(node.value, known)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return known.get(f"{node.func.id}()", ["…"])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "format":
            return [re.sub(r"\{[^}]*\}", "…", t) for t in texts(node.func.value, known)]
        if node.func.attr == "get":
            return texts(node.func.value, known)
    return ["…"]
