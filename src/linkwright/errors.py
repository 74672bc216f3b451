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
    """A number, expression or unit that cannot be read.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.simulate(lw.gallery("elbow"), 1.0, q0={"q1": "1 +"})
    Traceback (most recent call last):
        ...
    linkwright.errors.ExpressionError: q0 of 'q1': something is missing at the end in '1 +'
    """


class MechanismError(LinkwrightError, ValueError):
    """A mechanism whose description contradicts itself or physics.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.Mechanism(bodies={"rod": {"mass": 1}}, joints={"q": {"type": "free", "child": "rot"}})
    Traceback (most recent call last):
        ...
    linkwright.errors.MechanismError: joints.q.child: unknown body 'rot'; did you mean 'rod'?
    """


class FileError(LinkwrightError, ValueError):
    """A file that cannot be read or written as what it claims to be.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.load("missing.toml")
    Traceback (most recent call last):
        ...
    linkwright.errors.FileError: missing.toml: no such file; check the path
    """


class UnsupportedError(LinkwrightError, ValueError):
    """A mechanism that the chosen formulation or reading cannot treat.

    Examples
    --------
    >>> import linkwright as lw
    >>> try:
    ...     lw.identify.regressor_of(lw.gallery("four-bar"), ["m1"])
    ... except lw.errors.UnsupportedError as error:
    ...     print(error.what)
    four-bar has loops or constraints; regressors are those of trees
    """


class AssemblyError(LinkwrightError, ValueError):
    """Loops and constraints that cannot be closed; `residuals` by their names, at `q`.

    Examples
    --------
    A crank of 20 m does not fit into the four-bar, whose other links have 3, 2.5 and 3.5 m:

    >>> import linkwright as lw
    >>> try:
    ...     lw.assemble(lw.gallery("four-bar").with_parameters(l1=20))
    ... except lw.errors.AssemblyError as error:
    ...     print(list(error.residuals))
    ['pin']
    """

    residuals: dict[str, float] = {}  # noqa: RUF012 - replaced, never changed
    q: object = None


class NameNotFoundError(LinkwrightError, KeyError):
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
    """An argument of a wrong type, number or shape.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.compile(lw.gallery("elbow")).gravity([1.0, 2.0, 3.0])
    Traceback (most recent call last):
        ...
    linkwright.errors.ArgumentError: q has 3 numbers; elbow has 2: q1, q2
    """


class MissingExtraError(LinkwrightError, ImportError):
    """An optional package that is not installed; the remedy names the extra.

    Examples
    --------
    >>> import linkwright as lw
    >>> remedy = "install linkwright[mesh]"
    >>> print(lw.errors.MissingExtraError("the mesh needs trimesh", remedy=remedy))
    the mesh needs trimesh; install linkwright[mesh]
    """


class UnphysicalWarning(UserWarning):
    """Inertia that no real body has; the equations are right for the numbers as given.

    Examples
    --------
    >>> import linkwright as lw
    >>> rod, joint = {"mass": 1, "inertia": [1, 1, 3]}, {"type": "free", "child": "rod"}
    >>> found = lw.Mechanism(bodies={"rod": rod}, joints={"q": joint})
    >>> print(found.warnings[0].partition(":")[0])  # `lw.load` gives this warning
    bodies.rod.inertia breaks the triangle inequality
    """


class LossWarning(UserWarning):
    """A file format that cannot hold everything that the mechanism contains.

    Examples
    --------
    URDF has no gravity:

    >>> import tempfile, warnings
    >>> import linkwright as lw
    >>> with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     lw.save(lw.gallery("elbow"), f"{folder}/elbow.urdf")
    >>> any("gravity 0 -9.81 0" in str(one.message) for one in found)
    True
    """


class DamagedStudyWarning(UserWarning):
    """A study whose store has blocks with wrong checksums: they count as not made.

    Examples
    --------
    >>> import tempfile, warnings
    >>> from pathlib import Path
    >>> import linkwright as lw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Path(folder) / "arm"
    ...     arm, vary, measure = lw.gallery("elbow"), {"m2": [1, 2]}, {"v": "max(dq1)"}
    ...     study = lw.study(arm, vary, measure, t=0.1, store=store)
    ...     size = (store / "v" / "c" / "0").write_bytes(b"damaged")
    ...     with warnings.catch_warnings(record=True) as found:
    ...         warnings.simplefilter("always")
    ...         data = lw.studies.load_study(store).data
    >>> found[0].category.__name__
    'DamagedStudyWarning'
    """


class LimitWarning(UserWarning):
    """Forces beyond the limits of the mechanism, which were clipped to these limits.

    Examples
    --------
    >>> import warnings
    >>> import linkwright as lw
    >>> rail = {"type": "prismatic", "child": "cart", "axis": [1, 0, 0], "limits": {"effort": 2}}
    >>> cart = lw.Mechanism(bodies={"cart": {"mass": 1}}, joints={"x": rail})
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     x, v = lw.rollout(lw.compile(cart), [0.0], [0.0], [5.0], dt=0.1, steps=10)
    >>> v.round(6).tolist()  # 2 N on 1 kg for 1 s
    [2.0]
    >>> found[0].category.__name__
    'LimitWarning'
    """


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
