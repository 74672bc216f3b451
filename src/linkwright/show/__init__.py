"""Pictures: histories, stick figures, cyclographs, films, free bodies, polygons, structure.

Everything returns a matplotlib figure, and writes it where `path` is given (.svg, .pdf, .png).
"""

from .acceleration_components import acceleration_parts
from .animation import animate
from .bearing_figures import bearing_figure
from .bode_plot import bode
from .cam_figures import cam_motion_figure, cam_profile_figure
from .collision_search import Encounter, clearances, collisions
from .cyclograph_figure import cyclograph
from .eigenvalue_plot import eigenvalues
from .figure_style import data_uri, save, svg
from .film_page import animation_element, animation_page
from .force_polygon_figures import force_polygons
from .free_body_balance import FreeBody, free_bodies
from .free_body_figures import free_body_diagrams
from .history_plots import over_time, plot
from .linkage_figures import (
    coupler_curve_figure,
    instant_center_figure,
    linkage_figure,
    shaking_figure,
)
from .live_viewer import viewer
from .panels import HistoryLine, Panel
from .phase_portrait import phase
from .plan_figures import plan_ends, plan_figure, plan_histories, plan_picture
from .polygons import acceleration_polygon, images, velocity_polygon
from .root_locus_plot import root_locus
from .screw_figure import screw_axes
from .sparsity_figure import sparsity
from .stick_figures import figure_of
from .structure_graph import graph

__all__ = [
    "Encounter",
    "FreeBody",
    "HistoryLine",
    "Panel",
    "acceleration_parts",
    "acceleration_polygon",
    "animate",
    "animation_element",
    "animation_page",
    "bearing_figure",
    "bode",
    "cam_motion_figure",
    "cam_profile_figure",
    "clearances",
    "collisions",
    "coupler_curve_figure",
    "cyclograph",
    "data_uri",
    "eigenvalues",
    "figure_of",
    "force_polygons",
    "free_bodies",
    "free_body_diagrams",
    "graph",
    "images",
    "instant_center_figure",
    "linkage_figure",
    "over_time",
    "phase",
    "plan_ends",
    "plan_figure",
    "plan_histories",
    "plan_picture",
    "plot",
    "root_locus",
    "save",
    "screw_axes",
    "shaking_figure",
    "sparsity",
    "svg",
    "velocity_polygon",
    "viewer",
]
