"""Linkages."""
from .coupler_curve import CouplerCurve, coupler_curve
from .input_range import InputRange, input_range, sweep_input
from .instant_centers import InstantCenter, InstantCenters, instant_centers
from .linkage_analysis import LinkageAnalysis, analyze_linkage
from .loop_classes import LoopClass, four_bar_class, loop_classes
from .balancing import balance_forces, ForceBalance
from .slider_crank_balance import *
from .shaking_forces import shaking_forces
