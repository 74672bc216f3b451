"""The numbers that an exported LaTeX document means: a reader of its equations."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np

from linkwright.expressions.typeset import ExpressionTypesetter, LatexNotation
from linkwright.readings.targets.exported_code import ExportedCode, ExportedFunction

FUNCTIONS: dict[str, Callable[..., float]] = {
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos,
    "atan2": math.atan2, "exp": math.exp, "log": math.log, "tanh": math.tanh, "abs": abs,
    "sign": lambda a: float(a > 0) - float(a < 0), "min": min, "max": max, "floor": math.floor,
    "pow": pow, "lt": lambda a, b: float(a < b), "le": lambda a, b: float(a <= b),
    "eq": lambda a, b: float(a == b), "ne": lambda a, b: float(a != b),
    "and": lambda a, b: float(bool(a and b)), "or": lambda a, b: float(bool(a or b)),
    "not": lambda a: float(not a), "select": lambda c, a, b: a if c else b,
    "fma": lambda a, b, c: a * b + c,
}  # fmt: skip


def evaluate_latex_document(text: str, code: ExportedCode) -> list[list[np.ndarray]]:
    """The outputs of all functions at their reference states."""
    blocks = re.findall(r"\\begin\{align\*\}\n(.*?)\n\\end\{align\*\}", text, re.DOTALL)
    return [
        evaluate_equations(block, function)
        for block, function in zip(blocks, code.functions, strict=True)
    ]


def evaluate_equations(block: str, function: ExportedFunction) -> list[np.ndarray]:
    """The last values that the equations define, in the order of the outputs."""
    assert function.reference is not None
    known: dict[str, float] = {}
    for note, values in zip(function.inputs, function.reference.inputs, strict=True):
        dots = {"qd": 1, "qdd": 2}.get(note.port.name, 0)
        dotted = {name: (name[dots:], dots) for name in note.entries} if dots else {}
        setter = ExpressionTypesetter(LatexNotation(), dotted)
        known |= {setter.name(n): v for n, v in zip(note.entries, values, strict=True)}
    found: list[float] = []
    for row in block.replace(" \\\\\n&\\quad", "").split(" \\\\\n"):
        left, right = row.split(" &= ")
        found.append(EquationReader(right, known).read_all())
        known[left] = found[-1]
    sizes = [note.port.size for note in function.outputs]
    parts = np.split(np.array(found[-sum(sizes) :]), np.cumsum(sizes)[:-1])
    return list(parts)


class EquationReader:
    """Reads a right-hand side from left to right."""

    def __init__(self, text: str, known: dict[str, float]) -> None:
        self.text, self.known = text, known
        self.symbols = sorted(known, key=len, reverse=True)

    def take(self, *words: str) -> str:
        self.text = self.text.lstrip()
        for word in words:
            if self.text.startswith(word):
                self.text = self.text[len(word) :]
                return word
        return ""

    def read_all(self) -> float:
        value = self.read_sum()
        assert not self.text.strip(), self.text
        return value

    def read_sum(self) -> float:
        value = -self.read_product() if self.take("-") else self.read_product()
        while sign := self.take("+", "-"):
            value += self.read_product() if sign == "+" else -self.read_product()
        return value

    def read_product(self) -> float:
        value = self.read_power()
        while self.take("\\,", "\\cdot"):
            value *= self.read_power()
        return value

    def read_power(self) -> float:
        value = self.read_atom()
        return value ** self.read_exponent() if self.take("^") else value

    def read_exponent(self) -> float:
        if self.take("{"):
            value = self.read_sum()
            assert self.take("}")
            return value
        digit, self.text = self.text[0], self.text[1:]
        return float(digit)

    def read_group(self, left: str, right: str) -> list[float]:
        assert self.take(left), self.text
        values = [self.read_sum()]
        while self.take(","):
            values.append(self.read_sum())
        assert self.take(right), self.text
        return values

    def read_atom(self) -> float:
        if number := re.match(r"\s*(\d+\.?\d*)", self.text):
            self.text = self.text[number.end() :]
            return float(number[1])
        if self.take("\\frac"):
            return self.read_group("{", "}")[0] / self.read_group("{", "}")[0]
        if self.take("\\sqrt"):
            return math.sqrt(self.read_group("{", "}")[0])
        if self.text.lstrip().startswith("\\left|"):
            return abs(self.read_group("\\left|", "\\right|")[0])
        if symbol := self.take(*self.symbols):
            return self.known[symbol]
        if call := re.match(r"\s*\\(?:operatorname\{(\w+)\}|(\w+))(?=[\^(\\])", self.text):
            return self.read_call(call)
        if self.take("{"):
            value = self.read_sum()
            assert self.take("}")
            return value
        return self.read_parentheses()[0]

    def read_parentheses(self) -> list[float]:
        return self.read_group(
            *(("\\left(", "\\right)") if "\\left" in self.text.lstrip()[:5] else ("(", ")"))
        )

    def read_call(self, call: re.Match[str]) -> float:
        name = call[1] or call[2]
        if name == "left":
            return self.read_parentheses()[0]
        self.text = self.text[call.end() :]
        exponent = self.read_exponent() if self.take("^") else 1.0
        return FUNCTIONS[name](*self.read_parentheses()) ** exponent
