"""Trees of the judge as plain text and as LaTeX, in several spellings. Nothing of the library."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from .equation_judge import Add, Equation, Fun, Mul, Node, Num, Pow, Var, negate, num

Spelling = Callable[[str], str]
SUM, PRODUCT, POWER, ATOM = range(4)
GREEK = (
    "alpha", "beta", "gamma", "delta", "theta", "phi", "psi", "omega", "tau", "lambda", "mu", "rho",
)  # fmt: skip


def number_text(value: Fraction, *, decimals: bool = False) -> str:
    if decimals and value.denominator in (2, 4, 5, 10, 20, 100):
        return repr(float(value))
    return str(value)


def to_text(node: Node, spell: Spelling = str, above: int = SUM, *, decimals: bool = False) -> str:
    """Plain text with brackets where they are needed."""

    def inner(child: Node, level: int) -> str:
        return to_text(child, spell, level, decimals=decimals)

    match node:
        case Num(value):
            text = number_text(value, decimals=decimals)
            level = (
                ATOM
                if text.isdigit() or ("." in text and value > 0)
                else PRODUCT
                if value > 0
                else SUM
            )
        case Var(name):
            text, level = spell(name), ATOM
        case Fun(function, argument):
            text, level = f"{function}({inner(argument, SUM)})", ATOM
        case Pow(base, Num(exponent)) if exponent < 0:
            below = Pow(base, Num(-exponent)) if exponent != -1 else base
            text, level = f"1/{inner(below, POWER)}", PRODUCT
        case Pow(base, exponent):
            text, level = f"{inner(base, ATOM)}^{inner(exponent, ATOM)}", POWER
        case Mul():
            text, level = product_text(node, inner), PRODUCT
        case Add(terms):
            text, level = "", SUM
            for term in terms:
                sign, positive = without_sign(term)
                part = inner(positive, PRODUCT)
                text += f" {sign} {part}" if text else f"{'-' if sign == '-' else ''}{part}"
        case _:
            raise TypeError(node)
    if level is PRODUCT and text.startswith("-"):
        level = SUM
    return f"({text})" if level < above else text


def product_text(node: Mul, inner: Callable[[Node, int], str]) -> str:
    sign, positive = without_sign(node)
    factors = positive.factors if isinstance(positive, Mul) else (positive,)
    text = ""
    for i, factor in enumerate(factors):
        match factor:
            case Pow(base, Num(exponent)) if exponent < 0 and i:
                below = Pow(base, Num(-exponent)) if exponent != -1 else base
                text += f"/{inner(below, POWER)}"
            case Num(value) if value.denominator != 1 and i:
                text += f"*{inner(factor, ATOM)}"
            case _:
                text += ("*" if i else "") + inner(factor, PRODUCT if not i else POWER)
    return f"-{text}" if sign == "-" else text


def without_sign(node: Node) -> tuple[str, Node]:
    match node:
        case Num(value) | Mul((Num(value), *_)) if value < 0:
            return "-", negate(node)
    return "+", node


def equation_text(equation: Equation, spell: Spelling = str, *, decimals: bool = False) -> str:
    return " = ".join(to_text(side, spell, decimals=decimals) for side in equation)


# -- LaTeX ----------------------------------------------------------------------------------


def latex_name(name: str) -> str:
    r"""ddq1 as \ddot q_1, lc1 as l_{c1}, theta2 as \theta_2, M12 as M_{12}."""
    dots = ""
    for word, mark in (("dd", r"\ddot"), ("d", r"\dot")):
        below = name.removeprefix(word).rstrip("0123456789")
        if not dots and name.startswith(word) and (below in GREEK or len(below) == 1):
            dots, name = mark, name.removeprefix(word)
    stem = name.rstrip("0123456789")
    index = name[len(stem) :]
    if stem in GREEK:
        letter = f"\\{stem}"
    elif len(stem) == 2 and stem[1] in "cpf":
        letter, index = stem[0], stem[1] + index
    elif len(stem) == 1:
        letter = stem
    else:
        letter = rf"\mathrm{{{stem}}}"
    letter = f"{dots}{{{letter}}}" if dots else letter
    return (
        letter if not index else f"{letter}_{index}" if len(index) == 1 else f"{letter}_{{{index}}}"
    )


def to_latex(node: Node, above: int = SUM, spell: Spelling = latex_name) -> str:
    """LaTeX with fractions and products side by side."""

    def inner(child: Node, level: int) -> str:
        return to_latex(child, level, spell)

    match node:
        case Num(value) if value.denominator != 1:
            sign = "-" if value < 0 else ""
            text = rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"
            level = SUM if sign else ATOM
        case Num(value):
            text, level = str(value), ATOM if value >= 0 else SUM
        case Var(name):
            text, level = spell(name), ATOM
        case Fun("sqrt", argument):
            text, level = rf"\sqrt{{{inner(argument, SUM)}}}", ATOM
        case Fun("abs", argument):
            text, level = rf"|{inner(argument, SUM)}|", ATOM
        case Fun(function, argument):
            text, level = rf"\{function}({inner(argument, SUM)})", ATOM
        case Pow(base, Num(exponent)) if exponent < 0:
            below = Pow(base, Num(-exponent)) if exponent != -1 else base
            text, level = rf"\frac{{1}}{{{inner(below, SUM)}}}", ATOM
        case Pow(base, exponent):
            text, level = f"{inner(base, ATOM)}^{{{inner(exponent, SUM)}}}", POWER
        case Mul(factors):
            text, level = latex_product(factors, inner), PRODUCT
        case Add(terms):
            text, level = "", SUM
            for term in terms:
                sign, positive = without_sign(term)
                part = inner(positive, PRODUCT)
                text += f" {sign} {part}" if text else f"{'-' if sign == '-' else ''}{part}"
        case _:
            raise TypeError(node)
    if level is PRODUCT and text.startswith("-"):
        level = SUM
    return rf"\left({text}\right)" if level < above else text


def latex_product(factors: tuple[Node, ...], inner: Callable[[Node, int], str]) -> str:
    below = [x for x in factors if isinstance(x, Pow) and _is_negative(x)]
    kept = [x for x in factors if x not in below]
    sign = ""
    if kept and isinstance(kept[0], Num) and kept[0].value < 0:
        sign, kept = "-", ([Num(-kept[0].value)] if kept[0].value != -1 else []) + kept[1:]
    parts = [inner(x, POWER) for x in kept]
    above = parts[0] if parts else "1"
    for part in parts[1:]:  # numbers side by side would be one
        above += (r" \cdot " if part[0].isdigit() else " ") + part
    if not below:
        return sign + above
    under = " ".join(inner(Pow(x.base, Num(-x.exponent.value)), POWER) if x.exponent != num(-1)
                     else inner(x.base, POWER if len(below) > 1 else SUM) for x in below)  # fmt: skip
    return rf"{sign}\frac{{{above}}}{{{under}}}"


def _is_negative(node: Pow) -> bool:
    return isinstance(node.exponent, Num) and node.exponent.value < 0


def equation_latex(equation: Equation, spell: Spelling = latex_name) -> str:
    return " = ".join(to_latex(side, SUM, spell) for side in equation)
