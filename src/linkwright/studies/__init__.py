"""Studies: many designs of a mechanism, on this machine or on a cluster, kept in a Zarr store."""

from .response_surfaces import ResponseSurface
from .sensitivity_indices import MorrisEffects, SobolIndices
from .study_call import plan_study, study
from .study_continuation import load_study, resume_study
from .study_plan import StudyPlan
from .study_result import DesignCase, Study

__all__ = [
    "DesignCase",
    "MorrisEffects",
    "ResponseSurface",
    "SobolIndices",
    "Study",
    "StudyPlan",
    "load_study",
    "plan_study",
    "resume_study",
    "study",
]
