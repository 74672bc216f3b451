"""LaTeX as a list of tokens: commands, words of functions, numbers, letters, marks."""

from __future__ import annotations

import re

from ..errors import ExpressionError
from ..expressions.tokens import MAX_EXPRESSION_LENGTH, shorten_expression_text

GREEK_LETTER_NAMES = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega", "Gamma", "Delta",
    "Theta", "Lambda", "Sigma", "Phi", "Psi", "Omega", "upsilon", "Xi", "Pi", "Upsilon", "ell",
)  # fmt: skip
_GREEK_CHARACTERS = "αβγδεζηθικλμνξπρστφχψωΓΔΘΛΣΦΨΩ"
GREEK_NAMES_BY_LETTER = dict(zip(_GREEK_CHARACTERS, GREEK_LETTER_NAMES, strict=False))

_LATEX_OF_UNICODE = {ord(c): f"\\{name} " for c, name in GREEK_NAMES_BY_LETTER.items()} | {
    ord("−"): "-", ord("·"): "*", ord("×"): "*", ord("′"): "'", ord("°"): r"^\circ ",
    ord("²"): "^2", ord("³"): "^3", ord("∂"): r"\partial ", ord("½"): r"\frac{1}{2}",
    ord("∑"): r"\sum ", ord("…"): r"\dots ",
}  # fmt: skip
_SPACING_COMMANDS = re.compile(
    r"(?<!\\)\\(?:[,;:!> /]|(?:quad|qquad|displaystyle|textstyle|limits|nolimits|nonumber|notag"
    r"|rm|bf|it|mathstrut|strut|thinspace|medspace|thickspace|negthinspace|enspace|hfill|hfil|null|relax"
    r"|allowbreak|nobreak|break|noindent|centering|boldmath|middle|left\.|right\.|left|right"
    r"|[bB]igg?[lrm]?)(?![A-Za-z])"
    r"|(?:hspace|vspace|phantom|hphantom|vphantom)\*?\{[^{}]*\})|~"
)
_MATRIX_ENVIRONMENT = r"(?:[bpvBV]?(?:small)?matrix|array)\*?"
_MATRIX_BEGIN = r"\\begin\{(?:array\}(?:\{(?:[^{}]|\{[^{}]*\})*\})?|[bpvBV]?(?:small)?matrix\*?\})"
_LATEX_TOKEN = re.compile(
    rf"\s*(?:(?P<begin>{_MATRIX_BEGIN})|(?P<end_matrix>\\end\{{{_MATRIX_ENVIRONMENT}\}})"
    r"|(?P<newline>\\\\(?:\[[^\]]*\])?)|(?P<define>:=)|(?P<dots>\.\.\.)"
    r"|(?P<command>\\[A-Za-z]+|\\[{}|])"
    r"|(?P<word>(?:[Ss]in|[Cc]os|[Tt]an)(?!h)|(?:sqrt|atan2|arcsin|arccos|arctan)(?![A-Za-z]))"
    r"|(?P<number>\d+\.?\d*|\.\d+)|(?P<letter>[^\W\d_])|(?P<mark>[-+*/^_{}()\[\],;=&'|°])|(?P<end>$))"
)
_SYNONYM_COMMANDS = {
    "\\lbrace": "\\{", "\\rbrace": "\\}", "\\lbrack": "[", "\\rbrack": "]", "\\lparen": "(",
    "\\rparen": ")", "\\dfrac": "\\frac", "\\tfrac": "\\frac", "\\cfrac": "\\frac",
    "\\coloneqq": ":=", "\\equiv": ":=", "\\triangleq": ":=", "\\coloneq": ":=",
    "\\vartheta": "\\theta", "\\varphi": "\\phi", "\\varepsilon": "\\epsilon", "\\varrho": "\\rho",
    "\\prime": "'", "\\star": "*", "\\ast": "*", "\\intercal": "\\top", "...": "\\dots",
    "\\lvert": "|", "\\rvert": "|", "\\vert": "|", "\\lVert": "|", "\\rVert": "|", "\\Vert": "|",
    "\\|": "|", "\\ldots": "\\dots", "\\cdots": "\\dots",
}  # fmt: skip
_ALIGNMENT_TOKEN = "alignment"
_TOKENS_BEFORE_ALIGNMENT = (
    "",
    "=",
    ":=",
    "+",
    "-",
    "*",
    "/",
    ",",
    ";",
    "(",
    "[",
    "\\{",
    "\\cdot",
    _ALIGNMENT_TOKEN,
)
_TOKENS_AFTER_ALIGNMENT = (
    "",
    "=",
    ":=",
    "+",
    "-",
    "*",
    "/",
    ",",
    ";",
    ")",
    "]",
    "\\}",
    "\\cdot",
    _ALIGNMENT_TOKEN,
)
_OPENING_TOKENS, _CLOSING_TOKENS = ("(", "[", "\\{"), (")", "]", "\\}")
_UPRIGHT_DIFFERENTIAL = re.compile(r"\\(?:mathrm|operatorname|text|rm)\s*\{d\}|\\dd(?![A-Za-z])")
_DEGREE_SIGN = re.compile(r"\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![A-Za-z]))|\\degree(?![A-Za-z])")


def tokenize_latex(text: str) -> list[str]:
    """The tokens of an equation, and an empty one at the end."""
    if len(text) > MAX_EXPRESSION_LENGTH:
        raise ExpressionError(
            f"the equation has {len(text)} characters, more than {MAX_EXPRESSION_LENGTH}",
            remedy="split it with names of your own",
        )
    plain = _DEGREE_SIGN.sub(
        " ° ",
        _UPRIGHT_DIFFERENTIAL.sub(
            "d", _SPACING_COMMANDS.sub(" ", text.translate(_LATEX_OF_UNICODE))
        ),
    )
    found: list[str] = []
    depths: list[int] = []  # of brackets inside the matrices that are open
    at = 0
    while True:
        match = _LATEX_TOKEN.match(plain, at)
        if match is None or match.lastgroup is None:
            raise ExpressionError(
                f"cannot read '{plain[at:].lstrip()[0]}' in '{shorten_expression_text(text)}'"
            )
        kind, at = match.lastgroup, match.end()
        word = match.group(kind)
        if kind == "end":
            return _drop_layout_tokens([*found, ""], text)
        if kind == "begin":
            depths.append(0)
            found.append("\\begin")
        elif kind == "end_matrix":
            found.append("\\end")
            depths = depths[:-1]
        elif kind == "newline" or word == "&":  # outside of matrices they are layout
            is_mark = depths and depths[-1] == 0
            mark = "\\\\" if kind == "newline" else "&"
            found += [mark if is_mark else _ALIGNMENT_TOKEN] if is_mark or not depths else []
        else:
            token = f"\\{word.lower()}" if kind == "word" else _SYNONYM_COMMANDS.get(word, word)
            if depths:
                depths[-1] += (token in _OPENING_TOKENS) - (token in _CLOSING_TOKENS)
            found.append(token)


def _drop_layout_tokens(tokens: list[str], text: str) -> list[str]:
    """Drop alignment marks and empty groups; a mark between two factors separates equations."""
    found: list[str] = []
    for i, token in enumerate(tokens):
        before = found[-1] if found else ""
        after = tokens[i + 1] if token else ""
        if token == _ALIGNMENT_TOKEN:
            if before not in _TOKENS_BEFORE_ALIGNMENT and after not in _TOKENS_AFTER_ALIGNMENT:
                raise ExpressionError(
                    "'&' stands between two factors in "
                    f"'{shorten_expression_text(' '.join(text.split()))}'",
                    remedy="put a line break between equations",
                )
        elif token == "}" and before == "{" and not _is_prescript_ahead(tokens[i + 1 : i + 4]):
            found.pop()
        else:
            found.append(token)
    return found


def _is_prescript_ahead(tokens: list[str]) -> bool:
    """Whether capital letters are raised behind an empty group, as in {}^{B}V."""
    letters = [x for x in tokens[1:] if x != "{" and not x.startswith("\\")]
    return tokens[:1] == ["^"] and letters[:1] != [] and letters[0].isupper()
