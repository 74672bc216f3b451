"""Equations at random motions: those that hold everywhere, with the chance that this is luck."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ..errors import UnsupportedError
from ..expressions import Call, Expression, Name, Number, Power, fold
from ..expressions.tree import children
from ..readings.modular import UnluckyError
from ..readings.residues import PRIME, FieldAlgebra, FinerError, PrimeField, Value
from ..tape import Op
from .meaning import Meanings
from .points import Ground, Setting

CHANCE = 2.0**-50
MOST_POINTS = 200
MOST_UNLUCKY = 24
PUSHED = 1000
MOST_ROOTS = 5
Pair = tuple[Expression, Expression]


class Scope:
    """The values of their names at one point."""

    def __init__(self, field: Any, ours: dict[str, Value], meanings: Meanings) -> None:
        self.algebra = FieldAlgebra(field)
        self.ours = ours
        self.meanings = meanings
        self.theirs: dict[str, Value] = {}

    def lookup(self, name: str) -> Value:
        if name not in self.theirs:
            meaning = self.meanings.find(name)
            if meaning is None or (isinstance(meaning, str) and meaning not in self.ours):
                raise self.meanings.unknown(name)
            self.theirs[name] = self.ours[meaning] if isinstance(meaning, str) else self(meaning)
        return self.theirs[name]

    def maybe(self, name: str) -> Value | None:
        """The value of a name that may have none."""
        try:
            return self.lookup(name)
        except LookupError:
            return None

    def __call__(self, expression: Expression) -> Value:
        return fold(expression, self.algebra, self.lookup)

    def residual(self, pair: Pair) -> Value:
        """left − right, with its degree in what is random."""
        field = self.algebra.field
        found = field.apply(Op.SUB, (self(pair[0]), self(pair[1])))
        return replace(
            found,
            numerator=found.numerator * field.reckoned,
            denominator=found.denominator * field.reckoned,
        )


@dataclass(frozen=True)
class Proof:
    """Whether an equation holds on all motions; `why` it cannot be said."""

    holds: bool | None
    chance: float = 0.0
    why: str = ""


class Prover:
    """Equations of one section under one setting."""

    def __init__(self, meanings: Meanings, wanted: Sequence[str], setting: Setting) -> None:
        self.meanings = meanings
        self.setting = setting
        self.ground = Ground(meanings.vocabulary, wanted, setting)
        self._points: dict[int, tuple[PrimeField, dict[str, Value]]] = {}

    def scope(self, seed: int, use: Callable[[Scope], Any]) -> Any:
        """What `use` makes of the scope of a point; parts of angles are found on the way."""
        finest: dict[int, int] = {}
        while True:
            field = self._points[seed][0] if seed in self._points else PrimeField(seed, finest)
            try:
                if seed not in self._points:
                    self._points[seed] = field, self.ground(field)
                return use(Scope(field, self._points[seed][1], self.meanings))
            except FinerError:
                finest = field.finest
                self._points.pop(seed, None)

    def pushed(self, pairs: Sequence[Pair], at: int | None) -> list[int]:
        """Residuals with one acceleration changed, all else being equal."""
        self.ground.pushed = at
        self._points.pop(PUSHED, None)
        try:
            return self.scope(  # type: ignore[no-any-return]
                PUSHED, lambda scope: [scope.residual(pair).number for pair in pairs]
            )
        finally:
            self.ground.pushed = None
            self._points.pop(PUSHED, None)

    def prove(self, pairs: Sequence[Pair]) -> list[Proof]:
        missed, open_pairs = [1.0] * len(pairs), set(range(len(pairs)))
        found = {
            i: self._with_roots(pair)
            for i, pair in enumerate(pairs)
            if any(_has_root(side, self.meanings) for side in pair)
        }
        open_pairs -= found.keys()
        unlucky = [0] * len(pairs)
        for seed in range(1, MOST_POINTS):
            if not open_pairs:
                break
            residuals = self._residuals(seed, pairs, sorted(open_pairs))
            for i, residual in residuals.items():
                if residual is None:
                    unlucky[i] += 1
                    if unlucky[i] > MOST_UNLUCKY:
                        found[i] = Proof(None, 1.0, "it divides by zero, or has a root of nothing")
                elif isinstance(residual, str):
                    found[i] = Proof(None, 1.0, residual)
                elif residual.number:
                    why = self.ground.open_because
                    found[i] = Proof(None, 1.0, why) if why else Proof(False)
                else:
                    missed[i] *= min(1.0, residual.numerator / PRIME)
                    if missed[i] <= CHANCE:
                        found[i] = Proof(True, missed[i])
            open_pairs -= found.keys()
        nowhere = Proof(None, 1.0, "no proof was found: a degree is too large, or points are few")
        return [found.get(i, nowhere) for i in range(len(pairs))]

    def _residuals(
        self, seed: int, pairs: Sequence[Pair], wanted: Sequence[int]
    ) -> dict[int, Value | str | None]:
        def each(scope: Scope) -> dict[int, Value | str | None]:
            return {i: _tried(scope, pairs[i]) for i in wanted}

        try:
            return self.scope(seed, each)  # type: ignore[no-any-return]
        except UnluckyError:
            return {}
        except UnsupportedError as error:
            return dict.fromkeys(wanted, error.what)

    def holds(self, pair: Pair) -> bool:
        return self.prove([pair])[0].holds is True

    def _with_roots(self, pair: Pair) -> Proof:
        """A root has two signs modulo a prime: it must hold for all of them, or fail for all."""
        ground = Ground(self.meanings.vocabulary, self.meanings.wanted(pair), self.setting)
        missed = 1.0
        for seed in range(1, MOST_POINTS):
            try:
                residuals = list(_for_all_signs(ground, self.meanings, pair, seed))
            except (UnluckyError, FinerError):
                continue
            except UnsupportedError as error:
                return Proof(None, 1.0, error.what)
            zeros = [not residual.number for residual in residuals]
            if not any(zeros):
                return Proof(False)
            if not all(zeros):
                return Proof(None, 1.0, "it has roots, whose signs cannot be told modulo a prime")
            degree = max(residual.numerator for residual in residuals)
            missed *= min(1.0, len(zeros) * degree / PRIME)
            if missed <= CHANCE:
                return Proof(True, missed)
        return Proof(None, 1.0, "no point was found at which its roots exist")

    def constancy(self, pair: Pair) -> Proof:
        """Whether left − right does not change with the motion, the parameters being the same.

        Of a difference of degree d that does change, d/p of the parameters and d/p of the motions
        at most do not show it."""
        missed = 1.0
        for anchor in range(1, 40):
            prover = Prover(self.meanings, self.ground.wanted, self.setting)
            prover.ground.anchor = PrimeField(anchor)
            seeds = (100 * anchor + k for k in (1, 2))
            found = [prover._residuals(seed, [pair], [0]).get(0) for seed in seeds]
            values = [x for x in found if isinstance(x, Value)]
            if len(values) < 2:
                continue
            if values[0].number != values[1].number:
                return Proof(False)
            degree = max(x.numerator + x.denominator for x in values)
            missed *= min(1.0, 2 * degree / PRIME)
            if missed <= CHANCE:
                return Proof(True, missed)
        return Proof(None, 1.0)


class _Signed(PrimeField):
    """A point at which the bits of `signs` say which of both roots is taken."""

    def __init__(self, seed: int, signs: int) -> None:
        super().__init__(seed)
        self.signs = signs
        self.seen: dict[int, int] = {}

    def root(self, value: Value) -> Value:
        found = super().root(value)
        bit = self.seen.setdefault(value.number, len(self.seen))
        return self.apply(Op.NEG, (found,)) if self.signs >> bit & 1 else found


def _for_all_signs(ground: Ground, meanings: Meanings, pair: Pair, seed: int) -> Iterator[Value]:
    signs, count = 0, 1
    while signs < count:
        field = _Signed(seed, signs)
        yield Scope(field, ground(field), meanings).residual(pair)
        count, signs = 2 ** len(field.seen), signs + 1
        if len(field.seen) > MOST_ROOTS:
            raise UnsupportedError(f"it has more than {MOST_ROOTS} roots")


def _has_root(expression: Expression, meanings: Meanings) -> bool:
    match expression:
        case Call("sqrt", _) | Power(_, Number(Fraction(denominator=2))):
            return True
        case Name(name):
            found = meanings.find(name)
            if isinstance(found, str):
                return found[:1] == "v" and found[1:].isdigit()
            return found is not None and _has_root(found, meanings)
        case _:
            return any(_has_root(child, meanings) for child in children(expression))


def _tried(scope: Scope, pair: Pair) -> Value | str | None:
    try:
        return scope.residual(pair)
    except UnluckyError:
        return None
    except UnsupportedError as error:
        return error.what


def drives_of(meanings: Meanings, wanted: Sequence[str]) -> frozenset[str]:
    """The drives that the wanted names depend on, by actuator or tau1, tau2, …"""
    import casadi as ca

    vocabulary = meanings.vocabulary
    own = vocabulary.names
    named = own.actuators or tuple(f"tau{i + 1}" for i in range(own.nv))
    columns = ("u", "tau") if not own.actuators else ("u",)
    if own.actuators and any(
        ca.depends_on(vocabulary.known(name), vocabulary.symbols["tau"]) for name in wanted
    ):
        return frozenset(named)
    return frozenset(
        drive
        for i, drive in enumerate(named)
        if any(
            ca.depends_on(vocabulary.known(name), vocabulary.symbols[key][i])
            for name in wanted
            for key in columns
        )
    )


def only_name(expression: Expression) -> str:
    return expression.name if isinstance(expression, Name) else ""
