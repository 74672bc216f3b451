"""Methods of a model that close configurations, or check whether they are closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike

from ..types import Booleans, Floats
from .closed_states import (
    CLOSED_TOLERANCE,
    Configurations,
    are_states_closed,
    check_states_closed,
    read_configurations,
)

if TYPE_CHECKING:
    from .model import Model


class ClosingMethods:
    """`close`, `closed` and `check_closed` of a model."""

    def close(self, q: Configurations, t: ArrayLike = 0.0, p: ArrayLike | None = None) -> Floats:
        """Return configurations with loops and constraints of positions closed.

        Parameters
        ----------
        q : (…, nq) array, table by name, or name of a pose
            The coordinates of the independent velocities keep their values; the others are first
            guesses (rad, m). A table by name keeps the coordinates that it has.
        t : float or array
            Time, s.
        p : array, optional
            Values of the parameters that the model keeps (default: `nominal_parameters`).

        Returns
        -------
        (…, nq) array
            Closed coordinates, rad or m.

        Examples
        --------
        >>> import linkwright as lw
        >>> lw.compile(lw.gallery("four-bar")).close({"theta1": "1 rad"}).round(4)
        array([1.    , 0.5706, 1.7457])
        """
        from .guard import close_batch_positions

        model = cast("Model", self)
        given = read_configurations(model, "close", q)
        kept = model.nominal_parameters if p is None else np.asarray(p, dtype=float)
        return close_batch_positions(model, given, np.asarray(t, dtype=float), kept)

    def closed(
        self,
        q: Configurations,
        t: ArrayLike = 0.0,
        p: ArrayLike | None = None,
        *,
        tolerance: float = CLOSED_TOLERANCE,
    ) -> Booleans:
        """Return where loops and constraints of positions close.

        Functions of constrained models give meaningless numbers where they do not.

        Parameters
        ----------
        q : (…, nq) array, table by name, or name of a pose
            Coordinates, rad or m.
        t : float or array
            Time, s.
        p : array, optional
            Values of the parameters that the model keeps (default: `nominal_parameters`).
        tolerance : float
            The largest residual of a closed state, m or rad.

        Returns
        -------
        (…) array of bool

        Examples
        --------
        >>> import linkwright as lw
        >>> model = lw.compile(lw.gallery("four-bar"))
        >>> model.closed([[1.0, 0.0, 0.0], model.home()])
        array([False,  True])
        """
        model = cast("Model", self)
        return are_states_closed(model, read_configurations(model, "closed", q), t, p, tolerance)

    def check_closed(
        self,
        q: Configurations,
        t: ArrayLike = 0.0,
        p: ArrayLike | None = None,
        *,
        qd: ArrayLike | None = None,
        qdd: ArrayLike | None = None,
        tolerance: float = CLOSED_TOLERANCE,
    ) -> None:
        """Raise an error that names the first state that does not close.

        Parameters
        ----------
        q : (…, nq) array, table by name, or name of a pose
            Coordinates, rad or m.
        t : float or array
            Time, s.
        p : array, optional
            Values of the parameters that the model keeps (default: `nominal_parameters`).
        qd, qdd : (…, nv) array, optional
            Velocities and accelerations, which are checked too.
        tolerance : float
            The largest residual of a closed state, m or rad.

        Raises
        ------
        AssemblyError
            With the state, and the constraint that it violates most.

        Examples
        --------
        >>> import linkwright as lw
        >>> model = lw.compile(lw.gallery("four-bar"))
        >>> model.check_closed(model.home())
        """
        model = cast("Model", self)
        given = read_configurations(model, "check_closed", q)
        check_states_closed(model, given, t, p, qd=qd, qdd=qdd, tolerance=tolerance)
