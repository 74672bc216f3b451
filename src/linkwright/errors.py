"""Every error that Linkwright raises on purpose: what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Sequence


class LinkwrightError(Exception):
    """The base class of all errors of Linkwright.

    Parameters
    ----------
    what : str
        What is wrong.
    where : str
        The file, table or key.
    remedy : str
        What to do.

    Examples
    --------
    >>> import linkwright as lw
    >>> print(lw.LinkwrightError("mass is negative", where="bodies.link1", remedy="give above 0"))
    bodies.link1: mass is negative; give above 0
    """

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        super().__init__(what, where, remedy)
        self.what = what
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f"; {self.remedy}" if self.remedy else ""
        return f"{place}{self.what}{advice}"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild_error, (type(self), self.what, self.where, self.remedy))

    def within(self, outer: str) -> LinkwrightError:
        """Return the same error with an enclosing place in front of its own.

        Parameters
        ----------
        outer : str
            A file or a table.

        Returns
        -------
        LinkwrightError
            A copy.
        """
        where = f"{outer}: {self.where}" if self.where else outer
        return type(self)(self.what, where=where, remedy=self.remedy)


def _rebuild_error(
    kind: type[LinkwrightError], what: str, where: str, remedy: str
) -> LinkwrightError:
    return kind(what, where=where, remedy=remedy)


class ExpressionError(LinkwrightError, ValueError):
    """A number, expression or unit that cannot be read."""


class MechanismError(LinkwrightError, ValueError):
    """A mechanism whose description contradicts itself or physics."""


class FileError(LinkwrightError, ValueError):
    """A file that cannot be read or written as what it claims to be."""


class UnsupportedError(LinkwrightError, ValueError):
    """A mechanism that the chosen formulation or reading cannot treat."""


class AssemblyError(LinkwrightError, ValueError):
    """Loops and constraints that cannot be closed; `residuals` by their names, at `q`."""

    residuals: dict[str, float] = {}  # noqa: RUF012 - replaced, never changed
    q: object = None


class NameNotFoundError(LinkwrightError, LookupError):
    """A name (of a frame, parameter, gallery mechanism, …) that does not exist.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.gallery("elbo")
    Traceback (most recent call last):
        ...
    linkwright.errors.NameNotFoundError: the gallery has no 'elbo'; did you mean 'elbow'?
    """


class ArgumentError(LinkwrightError, ValueError, TypeError):
    """An argument of a wrong type, number or shape."""


class MissingExtraError(LinkwrightError, ImportError):
    """An optional package that is not installed; the remedy names the extra."""


class UnphysicalWarning(UserWarning):
    """Inertia that no real body has; the equations are right for the numbers as given."""


class LossWarning(UserWarning):
    """A file format that cannot hold everything the mechanism says."""


class DamagedStudyWarning(UserWarning):
    """A study whose store has blocks with wrong checksums: they count as not made."""


class LimitWarning(UserWarning):
    """Forces that were given beyond limits of the mechanism, and clipped to these."""


_MAX_NAMES_LISTED, _MAX_NAMES_SHOWN = 12, 24
"""The most names that are all listed, and the most that are shown of longer lists."""


def suggest_remedy(name: object, known: Sequence[str]) -> str:
    """A remedy for a mistyped name: similar known names, or a shortened list of all."""
    from difflib import get_close_matches

    near = get_close_matches(str(name), known, n=3) or _similar_names(str(name), known)
    if near:
        return f"did you mean {' or '.join(repr(n) for n in near)}?"
    if not known:
        return "there are none"
    if len(known) <= _MAX_NAMES_LISTED:
        return f"known: {', '.join(known)}"
    more = f", … ({len(known)} in all)" if len(known) > _MAX_NAMES_SHOWN else ""
    return f"known: {', '.join(known[:_MAX_NAMES_SHOWN])}{more}"


def _similar_names(name: str, known: Sequence[str]) -> list[str]:
    """The known names that differ in case only, or that begin or end with the given one."""
    low = name.lower()
    if len(low) < 2:
        return [one for one in known if one.lower() == low][:3]
    return [one for one in known if one.lower().startswith(low) or one.lower().endswith(low)][:3]


def type_in_words(value: object) -> str:
    """The type of a value with its article, as in a sentence: a str, an int."""
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def abbreviate_names(names: Sequence[str]) -> str:
    """Names in a sentence: up to four in full, else the first and the last."""
    return ", ".join(names) if len(names) <= 4 else f"{names[0]} … {names[-1]}"
