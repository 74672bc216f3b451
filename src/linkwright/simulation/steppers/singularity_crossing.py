"""Steps across configurations in which constraints lose rank, on the branch of the motion.

A motion through such a point is smooth, but its accelerations are 0/0 there: small errors across
the branch grow as the inverse distance, and an adaptive method takes ever shorter steps. The
stepper therefore stops before the point, and one long step by collocation leads across it: Gauss's
nodes lie away from the middle, states at the nodes are projected onto the constraints, and a
polynomial of high degree joins them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...types import Floats
from ..projection import Projection
from ..run_context import RunContext
from .stepper import DenseOutput, StepOptions, Stepper


@dataclass(frozen=True)
class CrossingOptions:
    """Numbers of the long step, with their reasons."""

    nodes: int = 14
    """Gauss's nodes: with fewer the polynomial of a long step misses rtol 1e-9, and an even number
    keeps them away from the singular point in the middle."""
    reach: float = 2.0
    """Number of ordinary steps before the singular configuration at which the long step begins:
    later, errors across the branch have grown."""
    max_iterations: int = 40
    """Iterations of the collocation; smooth motions need about ten."""
    settled_change: float = 1e-13
    """The relative change of states that counts as converged: rounding."""
    mixed_iterates: int = 12
    """Earlier iterates that extrapolate the next one. Where many loops are singular at once, the
    iteration alone diverges, with a factor that does not depend on the length of the step."""
    smooth_share: float = 1e-10
    """The last coefficients of the polynomial must be below this share of the largest, or below the
    tolerance of steps if that is larger; else the motion is not smooth there."""
    look_points: int = 21
    """Points at which the smallest singular value in a long step is looked for, twice: the second
    time between the neighbours of the smallest one."""


CROSSING = CrossingOptions()


def cross_singularities(
    inner: Stepper, context: RunContext, end: float, options: StepOptions
) -> Stepper:
    """Return a stepper that crosses singular configurations, if the mechanism can have any."""
    projection = context.space.projection
    if projection is None or not context.names.position_row_count:
        return inner
    smooth_share = max(CROSSING.smooth_share, options.rtol)
    return SingularityCrossing(inner, context, projection, end, smooth_share)


class SingularityCrossing:
    """A stepper that makes one long step where the next step would meet a singular state."""

    def __init__(
        self,
        inner: Stepper,
        context: RunContext,
        projection: Projection,
        end: float,
        smooth_share: float,
    ) -> None:
        self.inner, self.context, self.projection = inner, context, projection
        self.smooth_share = smooth_share
        """The share of the last coefficients of a long step's polynomial that is accepted."""
        self.space, self.end = context.space, end
        self.has_no_memory = inner.has_no_memory
        self.step_start = inner.t
        self.length = 0.0
        """The length of the last step of the inner stepper."""
        self._long_step: DenseOutput | None = None

    @property
    def t(self) -> float:
        """The time that is reached."""
        return self.inner.t

    @property
    def y(self) -> Floats:
        """The state that is reached."""
        return self.inner.y

    @property
    def planned_step(self) -> float:
        """The length of the next step, s."""
        return self.inner.planned_step

    @property
    def look_ahead(self) -> float:
        """How far a step that failed may have looked, s."""
        return self.inner.look_ahead

    @property
    def has_crossed(self) -> bool:
        """Whether the last step was a long one."""
        return self._long_step is not None

    def correct(self, y: Floats) -> None:
        """Replace the state at t."""
        self.inner.correct(y)

    def restart(self, t: float, y: Floats, end: float) -> None:
        """Start at (t, y)."""
        self._long_step, self.end = None, end
        self.inner.restart(t, y, end)

    def expect_length(self, length: float) -> None:
        """Take the length of steps so far from compiled code, so that a long step may be the next
        one."""
        self.length = length

    def dense_output(self) -> DenseOutput:
        """Return the dense output of the last step, long or not."""
        return self.inner.dense_output() if self._long_step is None else self._long_step

    def advance(self) -> str | None:
        """Make a step of the inner stepper, or a long one."""
        self.step_start = before = self.t
        ahead = self.time_to_singularity()
        planned = self.planned_step * (self.length > 0)
        if ahead < CROSSING.reach * max(self.length, planned) and self.cross(ahead):
            return None
        self._long_step = None
        reason = self.inner.advance()
        self.length = self.t - before
        if reason is None and ahead < 1.5 * self.length:
            self._note_weakest(before, self.length)
        return reason

    def time_to_singularity(self) -> float:
        """Return the seconds until the constraints lose rank, by linear extrapolation."""
        motion, ahead = self.space.motion(self.y), 1e-3 * self.length or 1e-6
        return self.projection.time_to_singularity(self.t, *motion, ahead)

    def cross(self, ahead: float) -> bool:
        """Step to as far behind the singular configuration as it is ahead now; return whether that
        was possible."""
        t, y = self.t, self.y
        length = min(2 * ahead, self.end - t)
        c, A, b = gauss_collocation(CROSSING.nodes)
        try:
            f = self.collocated_rates(t, y, length, c, A)
        except np.linalg.LinAlgError:  # the iteration went off to infinity
            return False
        if f is None:
            return False
        there = y + length * b @ f
        nodes = np.vstack([y, y + length * A @ f, there])
        self._long_step = _interpolate(t + length * np.array([0.0, *c, 1.0]), nodes)
        self._note_weakest(t, length)
        self.inner.restart(t + length, self.context.project(t + length, there), self.end)
        return True

    def collocated_rates(
        self, t: float, y: Floats, length: float, c: Floats, A: Floats
    ) -> Floats | None:
        """Return ẏ at the nodes by iteration; None if it does not converge to a smooth motion."""
        first = self.context.rates(t, y)
        x = (c * length)[:, None]
        states = y + x * first
        nq = self.context.names.nq
        states[:, :nq] += x**2 / 2 * self._accelerations(first)
        known, change = np.full_like(states, np.inf), np.inf
        mixing = AndersonMixing(CROSSING.mixed_iterates)
        for _ in range(CROSSING.max_iterations):
            held = np.array(
                [
                    self.context.project(t + h * length, state, is_polished=True)
                    for h, state in zip(c, states, strict=True)
                ]
            )
            f = np.array(
                [
                    self.context.rates(t + h * length, state)
                    for h, state in zip(c, held, strict=True)
                ]
            )
            before, change = change, np.abs(held - known).max() / (1.0 + np.abs(held).max())
            states = mixing.next_iterate(states, y + length * A @ f)
            known = held
            is_stalled = change < self.smooth_share and change > before / 2
            if change < CROSSING.settled_change or is_stalled:
                break
        smooth = self.smooth_share
        return f if _last_coefficients(held) < smooth and change < smooth else None

    def _accelerations(self, rate: Floats) -> Floats:
        """Return q̈ for the first guess, where x is (q, q̇)."""
        names = self.context.names
        if self.context.equations.state is not None or names.nq != names.nv:
            return np.zeros(names.nq)
        return rate[names.nq : 2 * names.nq]

    def _note_weakest(self, t: float, length: float) -> None:
        """Note where in the last step the constraints were weakest, to 1/200 of it: the smallest
        singular value falls towards that point from both sides."""
        inside, low, high = self.dense_output(), 0.0, 1.0
        for _ in range(2):
            x = t + length * np.linspace(low, high, CROSSING.look_points)
            weak = [self.projection.weakest_at(s, self.space.motion(inside(s))[0]) for s in x]
            k, width = int(np.argmin(weak)), 1 / (CROSSING.look_points - 1)
            low, high = max(0.0, low + width * (k - 1)), min(1.0, low + width * (k + 1))
        self.context.note_singularity(float(x[k]), weak[k])


class AndersonMixing:
    """Extrapolation of a fixed-point iteration x = g(x) from its last iterates (Anderson, 1965)."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self._steps: list[Floats] = []
        self._images: list[Floats] = []

    def next_iterate(self, x: Floats, image: Floats) -> Floats:
        """Return the next iterate after x, from g(x)."""
        step = (image - x).ravel()
        self._steps, self._images = self._steps[-self.depth :], self._images[-self.depth :]
        if not self._steps or not np.isfinite(step).all():
            self._steps, self._images = [step], [image]
            return image
        changes = np.array([step - old for old in self._steps]).T
        weights = np.linalg.lstsq(changes, step, rcond=1e-12)[0]
        moves = [weight * (image - old) for weight, old in zip(weights, self._images, strict=True)]
        self._steps.append(step)
        self._images.append(image)
        found: Floats = image - np.sum(moves, axis=0)
        return found


def _interpolate(times: Floats, states: Floats) -> DenseOutput:
    """Return the polynomial through states at times."""
    from scipy.interpolate import BarycentricInterpolator

    polynomial = BarycentricInterpolator(times, states, wi=_barycentric_weights(times))

    def at(t: float) -> Floats:
        found: Floats = polynomial(t)
        return found

    return at


def _barycentric_weights(times: Floats) -> Floats:
    """Return the weights of nodes; SciPy's own change by rounding from call to call, because it
    takes the nodes in a random order."""
    distances = 4 / np.ptp(times) * (times[:, None] - times)
    np.fill_diagonal(distances, 1.0)
    weights: Floats = 1 / distances.prod(axis=1)
    return weights


def _last_coefficients(f: Floats) -> float:
    """Return the last Legendre coefficients of values at Gauss's nodes, as a share."""
    x = np.polynomial.legendre.leggauss(len(f))[0]
    coefficients = np.abs(np.polynomial.legendre.legfit(x, f, len(f) - 1)).max(axis=1)
    return float(coefficients[-2:].max() / max(coefficients.max(), 1e-300))


@lru_cache(maxsize=4)
def gauss_collocation(n: int) -> tuple[Floats, Floats, Floats]:
    """Return c, A, b of collocation at Gauss's nodes in (0, 1)."""
    x, weights = np.polynomial.legendre.leggauss(n)
    A = np.zeros((n, n))
    for j in range(n):
        values = np.eye(n)[j]
        integral = np.polynomial.legendre.legint(
            np.polynomial.legendre.legfit(x, values, n - 1), lbnd=-1
        )
        A[:, j] = np.polynomial.legendre.legval(x, integral) / 2
    return (x + 1) / 2, A, weights / 2
