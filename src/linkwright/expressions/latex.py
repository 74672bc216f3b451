"""LaTeX to the one syntax tree: the subset that papers print equations of motion in.

    sum     = ["-"|"+"] product {("+"|"-") product}
    product = power {["*"|"\\cdot"|"\\times"|"/"] power}          factors may stand side by side
    power   = atom ["^" script]
    atom    = number | symbol | "\\frac" {…}{…} | "\\sqrt" {…} | function argument | bracketed sum
    symbol  = letter | "\\theta" | "\\mathrm{word}" | "\\dot" symbol, with "_" index

`\\ddot{\\theta}_1` is the name ddtheta1, `l_{c1}` lc1, `\\frac{\\partial L}{\\partial q_1}` L_q1.
A function without brackets takes numbers and one symbol: `\\sin 2q_1 \\dot q_1` is sin(2 q1) q̇1.
"""

from __future__ import annotations

import re
from fractions import Fraction

from ..errors import ExpressionError
from .parser import MAX_DEPTH, MAX_POWER, parse
from .tokens import MAX_LENGTH, shorten
from .tree import Call, Expression, Name, Number, Power, Product, Reciprocal, Sum, negate

GREEK = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega", "Gamma", "Delta",
    "Theta", "Lambda", "Sigma", "Phi", "Psi", "Omega", "upsilon", "Xi", "Pi", "Upsilon", "ell",
)  # fmt: skip
_VARIANTS = {"vartheta": "theta", "varphi": "phi", "varepsilon": "epsilon", "ell": "l"}
_FUNCTIONS = {
    name: name for name in ("sin", "cos", "tan", "exp", "tanh")
} | {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "ln": "log", "log": "log"}  # fmt: skip
_DOTS = {"dot": 1, "ddot": 2}
_FONTS = {
    "mathrm", "mathbf", "mathit", "mathsf", "mathcal", "boldsymbol", "bm", "text", "textrm",
    "operatorname", "vec", "rm", "bf",
}  # fmt: skip
_SILENT = re.compile(
    r"\\(?:[,;:!> ]|quad\b|qquad\b|left\b\.?|right\b\.?|[bB]igg?[lr]?\b|displaystyle\b|limits\b"
    r"|nonumber\b|notag\b|rm\b|bf\b)|[~&]"
)
_TOKEN = re.compile(
    r"\s*(?:(?P<command>\\[A-Za-z]+|\\[{}|])|(?P<word>(?:sin|cos|tan|sqrt)(?![A-Za-z]))"
    r"|(?P<number>\d+\.?\d*|\.\d+)|(?P<letter>[^\W\d_])|(?P<mark>[-+*/^_{}()\[\],])|(?P<end>$))"
)
_BRACKETS = {"(": ")", "[": "]", "{": "}", "\\{": "\\}"}
_LETTERS = "αβγδεζηθικλμνξπρστφχψωΓΔΘΛΣΦΨΩ"
_UNICODE = {ord(c): f"\\{name} " for c, name in zip(_LETTERS, GREEK, strict=False)}
_UNICODE |= {ord("−"): "-", ord("·"): "*", ord("×"): "*"}


def parse_latex(text: str) -> Expression:
    """Reads one side of an equation."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(
            f"the expression has {len(text)} characters, more than {MAX_LENGTH}",
            remedy="split it with names of your own",
        )
    return _Parser(text).whole()


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    at, plain = 0, _SILENT.sub(" ", text.translate(_UNICODE))
    while True:
        match = _TOKEN.match(plain, at)
        if match is None:
            rest = plain[at:].lstrip()
            raise ExpressionError(f"cannot read '{rest[0]}' in '{shorten(text)}'")
        if match.lastgroup == "end":
            return [*found, ""]
        word = match.group(match.lastgroup or "mark")
        found.append(f"\\{word}" if match.lastgroup == "word" else word)
        at = match.end()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.at = 0
        self.depth = 0

    @property
    def token(self) -> str:
        return self.tokens[self.at]

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, *words: str) -> str | None:
        return self.take() if self.token and self.token in words else None

    def fail(self, what: str, remedy: str = "") -> ExpressionError:
        return ExpressionError(f"{what} in '{shorten(' '.join(self.text.split()))}'", remedy=remedy)

    def expect(self, word: str) -> None:
        if not self.accept(word):
            raise self.fail(f"'{word}' is missing before '{self.token or 'the end'}'")

    def whole(self) -> Expression:
        if not self.token:
            raise ExpressionError("a side of an equation is empty")
        found = self.sum()
        if self.token:
            raise self.fail(f"unexpected '{self.token}'")
        return found

    # -- sums, products, powers ------------------------------------------------------------

    def sum(self) -> Expression:
        sign = self.accept("+", "-")
        terms = [negate(self.product()) if sign == "-" else self.product()]
        while sign := self.accept("+", "-"):
            terms.append(negate(self.product()) if sign == "-" else self.product())
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))

    def product(self) -> Expression:
        factors = [self.power()]
        while True:
            if self.accept("/"):
                factors.append(Reciprocal(self.power()))
            elif self.accept("*", "\\cdot", "\\times") or self.begins_factor():
                factors.append(self.power())
            else:
                return factors[0] if len(factors) == 1 else Product(tuple(factors))

    def begins_factor(self) -> bool:
        token = self.token
        if token in ("(", "[", "{", "\\{"):
            return True
        return (bool(token) and (token[0].isalnum() or token[0] == ".")) or self.is_command()

    def is_command(self) -> bool:
        return self.token.startswith("\\") and self.token[1:2].isalpha()

    def power(self) -> Expression:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail(f"more than {MAX_DEPTH} levels of nesting")
        base = self.atom()
        while self.accept("^"):
            base = self.raised(base, self.script())
        self.depth -= 1
        return base

    def raised(self, base: Expression, exponent: Expression) -> Expression:
        if isinstance(exponent, Number) and abs(exponent.value) > MAX_POWER:
            raise self.fail(f"an exponent is larger than {MAX_POWER}")
        return base if exponent == Number(Fraction(1)) else Power(base, exponent)

    def script(self) -> Expression:
        """What follows ^: a group, or one token."""
        if self.accept("{"):
            inner = self.sum()
            self.expect("}")
            return inner
        return self.single()

    def single(self) -> Expression:
        """One token as an argument: in \\frac12 the digit 1."""
        if self.token[:1].isdigit() and len(self.token) > 1:
            digit, self.tokens[self.at] = self.token[0], self.token[1:]
            return parse(digit)
        return self.atom()

    # -- atoms -----------------------------------------------------------------------------

    def atom(self) -> Expression:
        token = self.token
        if token in _BRACKETS:
            return self.bracketed()
        if token == "-":
            self.take()
            return negate(self.power())
        if token[:1].isdigit() or token[:1] == ".":
            return parse(self.take())
        if token in ("\\frac", "\\dfrac", "\\tfrac"):
            self.take()
            return self.fraction()
        if token == "\\sqrt":
            self.take()
            return Call("sqrt", (self.script() if self.token == "{" else self.bracketed(),))
        if token[1:] in _FUNCTIONS and token[0] == "\\":
            return self.function(_FUNCTIONS[self.take()[1:]])
        if token and (token.isalpha() or self.is_command()):
            return self.symbol_or_shorthand()
        raise self.fail(f"unexpected '{token}'" if token else "something is missing at the end")

    def bracketed(self) -> Expression:
        opening = self.take()
        if opening not in _BRACKETS:
            raise self.fail(f"unexpected '{opening or 'end'}'")
        inner = self.sum()
        self.expect(_BRACKETS[opening])
        return inner

    def function(self, name: str) -> Expression:
        exponent = self.script() if self.accept("^") else None
        if exponent is not None and not (isinstance(exponent, Number) and exponent.value > 0):
            raise self.fail(
                f"a power of {name} that is no positive number may mean its inverse",
                "write \\arcsin, or 1/\\sin(…)",
            )
        call = Call(name, (self.argument(),))
        return call if exponent is None else self.raised(call, exponent)

    def argument(self) -> Expression:
        if self.token in _BRACKETS:
            return self.bracketed()
        factors = []
        while self.token[:1].isdigit():
            factors.append(parse(self.take()))
        if self.token == "-" or (factors and not self.begins_factor()):
            return factors[0] if factors else self.atom()
        factors.append(self.power())
        return factors[0] if len(factors) == 1 else Product(tuple(factors))

    def fraction(self) -> Expression:
        if derivative := self.derivative():
            return derivative
        top = self.script()
        bottom = self.script()
        if isinstance(bottom, Number):
            if bottom.value == 0:
                raise self.fail("division by zero")
            if isinstance(top, Number):
                return Number(top.value / bottom.value)
        if top == Number(Fraction(1)):
            return Reciprocal(bottom)
        return Product((top, Reciprocal(bottom)))

    def derivative(self) -> Expression | None:
        r"""\frac{\partial L}{\partial q_1} is the name L_q1; with \frac{d}{dt} before it, dL_q1."""
        ahead = self.tokens[self.at : self.at + 7]
        if ahead == ["{", "d", "}", "{", "d", "t", "}"]:
            self.at += 7
            operand = self.atom()
            if not isinstance(operand, Name):
                raise self.fail("d/dt stands before something else than a name")
            return Name(f"d{operand.name}")
        if ahead[:2] != ["{", "\\partial"]:
            return None
        self.at += 2
        above = self.symbol()
        for word in ("}", "{", "\\partial"):
            self.expect(word)
        below = self.symbol()
        self.expect("}")
        return Name(f"{above}_{below}")

    # -- symbols ---------------------------------------------------------------------------

    def symbol_or_shorthand(self) -> Expression:
        r"""A name; S\theta_2 and c\phi are the sine and the cosine of what follows."""
        short = self.token in tuple("sScC") and self.tokens[self.at + 1].lstrip("\\") in GREEK
        if short and self.tokens[self.at + 1].startswith("\\"):
            function = {"s": "sin", "c": "cos"}[self.take().lower()]
            return Call(function, (Name(self.symbol()),))
        name = self.symbol()
        if self.token == "^":  # q^2_1 is q_1^2
            self.take()
            exponent = self.script()
            name += self.index() if self.accept("_") else ""
            return self.raised(Name(name), exponent)
        return Name(name)

    def symbol(self) -> str:
        dots, base = self.accented()
        index = self.index() if self.accept("_") else ""
        return "d" * dots + base + index

    def accented(self, level: int = 0) -> tuple[int, str]:
        """The number of dots over a symbol, and its name."""
        if level > 8:
            raise self.fail("too many accents")
        token = self.take()
        word = _VARIANTS.get(token[1:], token[1:]) if token[:1] == "\\" else token
        if token[:1] == "\\" and word in _DOTS:
            inner, base = self.grouped(level)
            return inner + _DOTS[word], base
        if token[:1] == "\\" and word in _FONTS:
            return self.grouped(level, is_word=True)
        if token[:1] == "\\" and word not in GREEK and word != "l":
            raise self.fail(f"'{token}' is not in the subset of LaTeX that is read")
        if not word.isalpha():
            raise self.fail(f"unexpected '{token or 'end'}'")
        return 0, word

    def grouped(self, level: int, is_word: bool = False) -> tuple[int, str]:
        """The symbol in braces, or the next one; of letters in a row, the word."""
        if not self.accept("{"):
            return self.accented(level + 1)
        dots, base = self.accented(level + 1)
        while is_word and self.token[:1].isalnum():
            base += self.take()
        if self.accept("_"):
            base += self.index()
        self.expect("}")
        return dots, base

    def index(self) -> str:
        """What stands below a symbol, as letters and digits; commas between long numbers as _."""
        if self.token != "{":
            token = self.take()
            return self.piece(token)
        pieces, depth = [""], 0
        while True:
            token = self.take()
            depth += {"{": 1, "}": -1}.get(token, 0)
            if depth == 0:
                break
            if token == ",":
                pieces.append("")
            elif token not in ("{", "}", "_") and token.lstrip("\\") not in _FONTS:
                pieces[-1] += self.piece(token)
        return ("_" if any(len(piece) > 1 for piece in pieces) else "").join(pieces)

    def piece(self, token: str) -> str:
        word = token[1:] if token[:1] == "\\" else token
        word = _VARIANTS.get(word, word)
        if not word.isalnum():
            raise self.fail(f"'{token or 'the end'}' stands below a symbol")
        return word
