"""Linkages and cams: ratios, transmission, bearing forces, coupler curves, balance, profiles."""

from .balancing import ForceBalance, balance_forces
from .bearing_loads import BearingForces, bearing_forces
from .cam_motions import CamMotion, cam_motion
from .cam_profiles import CamProfile, flat_cam, roller_cam, swinging_cam
from .cam_tables import read_cam_motion
from .center_search import InstantCenter, InstantCenters, instant_centers
from .counterweights import Counterweight
from .coupler_curves import CouplerCurve, coupler_curve
from .grashof_rule import LoopClass, four_bar_class, loop_classes
from .inertia_loads import ShakingForces, shaking_forces
from .input_sweeps import InputRange, input_range, sweep_input
from .linkage_analysis import LinkageAnalysis, analyze_linkage
from .moment_balance import BalanceDisk, MomentBalance, balance_moments
from .slider_crank_balance import SliderCrankBalance, balance_slider_crank
from .transmission import TransmissionAngles

__all__ = [
    "BalanceDisk",
    "BearingForces",
    "CamMotion",
    "CamProfile",
    "Counterweight",
    "CouplerCurve",
    "ForceBalance",
    "InputRange",
    "InstantCenter",
    "InstantCenters",
    "LinkageAnalysis",
    "LoopClass",
    "MomentBalance",
    "ShakingForces",
    "SliderCrankBalance",
    "TransmissionAngles",
    "analyze_linkage",
    "balance_forces",
    "balance_moments",
    "balance_slider_crank",
    "bearing_forces",
    "cam_motion",
    "coupler_curve",
    "flat_cam",
    "four_bar_class",
    "input_range",
    "instant_centers",
    "loop_classes",
    "read_cam_motion",
    "roller_cam",
    "shaking_forces",
    "sweep_input",
    "swinging_cam",
]
