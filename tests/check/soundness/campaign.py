"""Many cases by seed, and the table of what became of them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .arrangements import arrange
from .equations import sample
from .mutations import KINDS, draw_mutant
from .spellings import spell, spell_randomly
from .subjects import Subject
from .verdicts import Case, Outcome, is_false, is_true, run_batch, run_case


def true_cases(subject: Subject, seed: str, count: int, *, plain: bool = False) -> Iterator[Case]:
    """True equations in random arrangements and spellings, each confirmed by the judge."""
    draw = random.Random(f"true {subject.name} {seed}")
    for equation in sample(subject, draw, count):
        arranged, steps = arrange(equation, draw, subject.reference)
        if not is_true(arranged, subject.reference):
            arranged, steps = equation, []
        spelled = spell_randomly(arranged, draw, subject.reference)
        if plain and (spelled.names or spelled.kind == "LaTeX"):
            spelled = spell("plain", arranged, subject.reference)
        yield Case(subject, arranged, spelled, seed, steps=tuple(steps))


def false_cases(subject: Subject, seed: str, count: int) -> Iterator[Case]:
    """Single misprints that the judge finds false."""
    draw = random.Random(f"false {subject.name} {seed}")
    for equation in sample(subject, draw, count):
        arranged, steps = arrange(equation, draw, subject.reference, most=2)
        if not is_true(arranged, subject.reference):
            arranged, steps = equation, []
        mutant = draw_mutant(arranged, draw, subject.reference)
        if mutant is None or not is_false(mutant.equation, subject.reference):
            continue
        spelled = spell_randomly(mutant.equation, draw, subject.reference)
        yield Case(subject, mutant.equation, spelled, seed, mutant, arranged, tuple(steps))


@dataclass
class Tally:
    """Counts, and the outcomes that must not be."""

    outcomes: list[Outcome] = field(default_factory=list)

    def add(self, outcomes: Iterable[Outcome]) -> None:
        self.outcomes += outcomes

    @property
    def problems(self) -> list[Outcome]:
        return [x for x in self.outcomes if x.problem]

    def table(self) -> str:
        true = [x for x in self.outcomes if x.case.mutant is None]
        false = [x for x in self.outcomes if x.case.mutant is not None]
        problems = Counter(x.problem for x in self.outcomes)
        rows = [
            f"{len(true)} true equations, {len(false)} misprints",
            *(f"{problems[word]:6} {word}s" for word in ("false proof", "false alarm", "crash")),
            f"{problems['condition on what is named']:6} conditions on what the text names",
            f"{problems['refused']:6} true equations refused",
            f"{sum(x.status == 'undecided' for x in true):6} true equations undecided",
            f"{sum(x.status == 'undecided' for x in false):6} misprints undecided",
            f"{sum(x.status == 'refused' for x in false):6} misprints refused",
        ]
        for kind in (*KINDS, "all"):
            own = [x for x in false if kind in (x.case.mutant.kind, "all")]
            if own:
                share = [100 * sum(map(bool, (getattr(x, key) for x in own))) / len(own) for key in ("repair", "restored")]  # fmt: skip
                rows.append(f"{kind:>14}: {len(own):5}, {share[0]:5.1f} % repaired, {share[1]:5.1f} % restored")  # fmt: skip
        return "\n".join(rows)


def campaign(
    subject: Subject, seed: str, true: int, false: int, *, batch: bool = False
) -> list[Outcome]:
    """Outcomes of random cases of one subject: alone, or true ones in one text."""
    cases = list(true_cases(subject, seed, true, plain=batch))
    found = run_batch(cases) if batch and cases else [run_case(case) for case in cases]
    return found + [run_case(case) for case in false_cases(subject, seed, false)]
