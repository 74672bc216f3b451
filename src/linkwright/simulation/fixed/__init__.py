"""Steps of fixed length, compiled whole, and many trajectories of them at once."""

from .rollouts import rollout
from .tables import FIXED

__all__ = ["FIXED", "rollout"]
