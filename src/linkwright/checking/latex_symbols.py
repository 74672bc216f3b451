r"""Symbols of LaTeX as names: letters with dots, accents, primes, fonts, indices, superscripts."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ..errors import ExpressionError
from .equation_grammar import StatementGrammar
from .latex_tokens import GREEK_LETTER_NAMES, tokenize_latex
from .text_symbols import StatementSymbols

LATEX_FUNCTIONS = {
    **{name: name for name in ("sin", "cos", "tan", "exp", "tanh", "atan2", "asin", "acos")},
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "atan": "atan", "ln": "log", "log": "log",
    "sgn": "sign", "sign": "sign", "Atan2": "atan2", "arctan2": "atan2",
    "Sin": "sin", "Cos": "cos", "Tan": "tan",
}  # fmt: skip
LATEX_FONTS = frozenset({
    "mathrm", "mathbf", "mathit", "mathsf", "mathcal", "mathscr", "mathbb", "mathtt", "mathfrak",
    "boldsymbol", "bm", "text", "textrm", "textit", "textbf", "textsf", "operatorname", "vec", "rm",
    "bf", "underline", "pmb", "overrightarrow", "ensuremath", "mathnormal",
})  # fmt: skip
LATEX_ACCENTS = frozenset(
    {"hat", "widehat", "bar", "overline", "tilde", "widetilde", "check", "breve"}
)
ACCENT_WORDS = re.compile(r"prime|hat|bar|tilde|check|breve")
"""Words for primes and accents in names."""
_ACCENT_SYNONYMS = {"widehat": "hat", "overline": "bar", "widetilde": "tilde"}
_DOT_ACCENTS = {"dot": 1, "ddot": 2}
_OPEN_INDEX = re.compile(r"[A-Za-z]?([ijk]|\d|[-+,])+")
_MAX_ACCENTS = 8
_LETTER_COMMANDS = {"ell": "l", "imath": "i", "jmath": "j"}


@dataclass(frozen=True)
class _AccentedLatexSymbol:
    """A letter with what stands over it and behind it."""

    base: str
    dots: int = 0
    mark: str = ""
    index: str = ""
    primes: int = 0


class LatexStatementSymbols(StatementGrammar):
    """Names from LaTeX."""

    def __init__(self, text: str, symbols: StatementSymbols, indices: dict[str, int]) -> None:
        super().__init__(text, tokenize_latex(text), symbols)
        self.index_values = dict(indices)
        self.open_indices: set[str] = set()

    def is_latex_command(self) -> bool:
        r"""Whether the current token is a command of letters, other than \end."""
        return self.token[:1] == "\\" and self.token[1:2].isalpha() and self.token != "\\end"

    def parse_optional_symbol(self) -> str | None:
        """The name that begins here, or None, with nothing taken, where there is none."""
        begin = self.position
        if self.token[:1].isalpha() or self.is_latex_command():
            try:
                return self.parse_symbol()
            except ExpressionError:
                self.position = begin
        return None

    def is_indexed_group(self) -> bool:
        """Whether an index or a prime follows a group in braces: {s}_3."""
        depth, at = 0, self.position
        while self.tokens[at]:
            depth += {"{": 1, "}": -1}.get(self.tokens[at], 0)
            at += 1
            if not depth:
                return self.tokens[at] in ("_", "'")
        return False

    def parse_symbol(self) -> str:
        """Parse a symbol with accents, primes, indices and superscripts as one name."""
        found = self.parse_accented(0)
        while True:
            if self.accept("'"):
                found = replace(found, primes=found.primes + 1)
            elif self.is_primed_superscript():
                found = replace(found, primes=found.primes + self.parse_prime_superscript())
            elif self.token == "_":
                self.take()
                found = replace(found, index=found.index + self.parse_index(found))
            else:
                break
        above = self.parse_name_superscript(found)
        return self.compose_name(found, above)

    def compose_name(self, found: _AccentedLatexSymbol, above: str) -> str:
        """The name of a symbol: `d` for each dot, the letter, its accent, its index and its
        primes."""
        if self.is_dual_symbol(found, above):
            return self.compose_dual_name(found, above)
        is_rate_alike = found.base == "d" and not found.mark and found.index[:1].isalpha()
        index = f"_{found.index}" if is_rate_alike else found.index  # d_{q1} is not dq1
        name = found.base + found.mark + index + "prime" * found.primes
        return "d" * found.dots + name + (f"_{above}" if above else "")

    def is_dual_symbol(self, found: _AccentedLatexSymbol, above: str) -> bool:
        """Whether a hat marks a dual vector: over V, H, F, and over unit vectors x, y, z of
        frames."""
        if found.mark != "hat" or found.dots or found.primes:
            return False
        where = (found.index + above).removesuffix("star")
        if found.base in ("V", "H", "F"):
            return bool(where)
        if found.base == "v":
            return found.index.isdigit() and bool(above)
        return found.base in ("x", "y", "z") and where[:1].isalpha()

    def compose_dual_name(self, found: _AccentedLatexSymbol, above: str) -> str:
        """The name of a dual vector: V_B1, v1_B, x_PR, or V1 by the number of the body."""
        if found.base == "v":
            return f"v{found.index}_{above.removesuffix('star')}"
        where = (found.index + above).removesuffix("star")
        name = f"{found.base}{where}" if where.isdigit() else f"{found.base}_{where}"
        if found.base in ("V", "H", "F"):
            self.symbols.dual_names.add(name)
        return name

    # -- accents ---------------------------------------------------------------------------

    def parse_accented(self, level: int) -> _AccentedLatexSymbol:
        """Parse a letter, and the dots, accents and fonts around it."""
        if level > _MAX_ACCENTS:
            raise self.parse_error("too many accents")
        if self.token == "{":
            return self.parse_symbol_group(level)
        token = self.take()
        if token[:1] != "\\":
            if not token.isalpha():
                self.position -= 1
                raise self.unexpected_token_error()
            return _AccentedLatexSymbol(token)
        word = _LETTER_COMMANDS.get(token[1:], token[1:])
        if word in _DOT_ACCENTS:
            inner = self.parse_symbol_group(level)
            return replace(inner, dots=inner.dots + _DOT_ACCENTS[word])
        if word in LATEX_FONTS:
            return self.parse_symbol_group(level, is_word=True)
        if word in LATEX_ACCENTS:
            inner = self.parse_symbol_group(level)
            return replace(inner, mark=inner.mark + _ACCENT_SYNONYMS.get(word, word))
        if word in GREEK_LETTER_NAMES or word in _LETTER_COMMANDS.values():
            return _AccentedLatexSymbol(
                "eps" if word == "epsilon" and self.is_dual_unit() else word
            )
        raise self.parse_error(f"'{token}' is not in the subset of LaTeX that is read")

    def is_dual_unit(self) -> bool:
        """Whether epsilon is the unit of dual numbers: not where the mechanism has such a name."""
        return not self.symbols.is_mechanism_name("epsilon")

    def parse_symbol_group(self, level: int, is_word: bool = False) -> _AccentedLatexSymbol:
        """The symbol in braces, or the next one; of letters in a row, the word."""
        if not self.accept("{"):
            return self.parse_accented(level + 1)
        found = self.parse_accented(level + 1)
        while is_word and (self.token[:1].isalnum() or self.token == "-"):
            found = replace(found, base=found.base + self.take().replace("-", "_"))
        while not self.accept("}"):
            if self.accept("'"):
                found = replace(found, primes=found.primes + 1)
            elif self.accept("_"):
                found = replace(found, index=found.index + self.parse_index(found))
            else:
                raise self.unexpected_token_error()
        return found

    # -- superscripts ----------------------------------------------------------------------

    def is_primed_superscript(self) -> bool:
        """Whether a prime stands above: ^' or ^{'}."""
        ahead = [x for x in self.tokens[self.position + 1 : self.position + 4] if x != "{"]
        return self.token == "^" and ahead[:1] == ["'"]

    def parse_prime_superscript(self) -> int:
        """Parse primes above a symbol, and count them."""
        self.take()
        count, braced = 0, self.accept("{") is not None
        while self.accept("'"):
            count += 1
        if braced:
            self.expect("}")
        return count

    def parse_name_superscript(self, found: _AccentedLatexSymbol) -> str:
        """Parse a superscript that belongs to the name: capital letters or a star. Numbers are
        powers."""
        if self.token != "^":
            return ""
        hatted = found.mark == "hat" and found.base in ("V", "H", "F")
        begin = self.position
        self.take()
        inside = self.take_superscript_tokens()
        while inside[:1] and inside[0][1:] in LATEX_FONTS:
            inside = inside[1:]
        first = inside[0] if inside else ""
        is_name = first == "*" or (len(first) == 1 and first.isupper() and inside != ["T"])
        is_name = is_name or (hatted and len(inside) == 1 and first.isdigit())
        is_partial = found.mark == "hat" and found.base == "v" and found.index.isdigit()
        is_word = inside != ["T"] and "".join(inside).lstrip("{")[:1].isalpha()
        is_name = is_name or (is_partial and is_word)
        if not is_name:
            self.position = begin
            return ""
        words = ["star" if x == "*" else x for x in inside if x not in ("_", "{", "}", "^")]
        if not all(x.isalnum() for x in words):
            raise self.parse_error("a superscript is not read", "write it as an index")
        if "^" in inside:  # D^* as a place
            words = [x for x in words if x != "star"]
        above = "".join(words)
        if self.token == "_":
            self.take()
            above = self.parse_index(found) + above
        return above

    def take_superscript_tokens(self) -> list[str]:
        """Take the tokens of a superscript, without the outer braces."""
        if self.token != "{":
            return [self.take()]
        inside: list[str] = []
        depth = 0
        while True:
            token = self.take()
            depth += {"{": 1, "}": -1}.get(token, 0)
            if depth == 0:
                return inside[1:]
            inside.append(token)

    # -- indices ---------------------------------------------------------------------------

    def parse_index(self, found: _AccentedLatexSymbol | None = None) -> str:
        """Parse a subscript as letters and digits; commas between long numbers become _."""
        raw = self.take_index_tokens()
        flat = "".join(raw)
        if self.index_values and all(len(x) == 1 or x.isdigit() or x == "," for x in raw[1:]):
            raw = [str(self.index_values[x]) if x in self.index_values else x for x in raw]
        elif found is not None and _OPEN_INDEX.fullmatch(flat) and self.symbols.velocity_count:
            letters = {x for x in raw if x in ("i", "j", "k")}
            if letters and not self.symbols.is_mechanism_name(found.base + flat):
                self.open_indices |= letters
        pieces = [""]
        for token in self.sum_index_numbers(raw):
            if token == ",":
                pieces.append("")
            else:
                pieces[-1] += self.index_piece(token)
        return ("_" if any(len(piece) > 1 for piece in pieces) else "").join(pieces)

    def take_index_tokens(self) -> list[str]:
        """The tokens of an index, without braces, fonts and stars."""
        if self.token != "{":
            return [self.take()]
        found: list[str] = []
        depth = 0
        while True:
            token = self.take()
            depth += {"{": 1, "}": -1}.get(token, 0)
            if depth == 0:
                return found
            if token not in ("{", "}", "_", "^", "*") and token[1:] not in LATEX_FONTS:
                found.append(token)

    def sum_index_numbers(self, raw: list[str]) -> list[str]:
        """The tokens of an index with sums of numbers added up: 1+1 is 2."""
        found: list[str] = []
        i = 0
        while i < len(raw):
            if raw[i] in ("+", "-") and found and found[-1].isdigit() and i + 1 < len(raw):
                step = int(raw[i + 1]) if raw[i + 1].isdigit() and len(raw[i + 1]) < 4 else None
                if step is not None and self.index_values:
                    found[-1] = str(int(found[-1]) + (step if raw[i] == "+" else -step))
                    i += 2
                    continue
            found.append(raw[i])
            i += 1
        return found

    def index_piece(self, token: str) -> str:
        """The letters or digits that a token adds to an index."""
        word = token[1:] if token[:1] == "\\" else token
        word = "prime" if word == "'" else _LETTER_COMMANDS.get(word, word)
        if word in _DOT_ACCENTS or word in LATEX_ACCENTS:
            return _ACCENT_SYNONYMS.get(word, word)
        if not word.isalnum():
            raise self.parse_error(f"'{token or 'the end'}' stands below a symbol")
        return word
