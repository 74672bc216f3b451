"""Pictures: histories, stick figures, cyclographs, films, free bodies, polygons, structure.

Everything returns a matplotlib figure, and writes it where `path` is given (.svg, .pdf, .png).
"""

from .animation import animate
from .collisions import Encounter, clearances, collisions
from .cyclograph import cyclograph
from .diagrams import free_body_diagrams
from .free_bodies import FreeBody, free_bodies
from .histories import Line, Panel
from .page import animation_element, animation_page
from .plans import plan_courses, plan_ends, plan_figure
from .plots import eigenvalues, over_time, phase, plot
from .polygons import acceleration_polygon, force_polygons, images, velocity_polygon
from .sparsity import sparsity
from .sticks import figure_of
from .structure import graph
from .style import data_uri, save, svg

__all__ = [
    "Encounter",
    "FreeBody",
    "Line",
    "Panel",
    "acceleration_polygon",
    "animate",
    "animation_element",
    "animation_page",
    "clearances",
    "collisions",
    "cyclograph",
    "data_uri",
    "eigenvalues",
    "figure_of",
    "force_polygons",
    "free_bodies",
    "free_body_diagrams",
    "graph",
    "images",
    "over_time",
    "phase",
    "plan_courses",
    "plan_ends",
    "plan_figure",
    "plot",
    "save",
    "sparsity",
    "svg",
    "velocity_polygon",
]
