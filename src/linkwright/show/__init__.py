"""Pictures: histories, stick figures, cyclographs, animations, diagrams."""

from .animation import animate
from .cyclograph import cyclograph
from .page import animation_element, animation_page
from .plots import eigenvalues, over_time, phase, plot
from .sticks import figure_of
from .style import data_uri, save, svg

__all__ = [
    "animate", "animation_element", "animation_page", "cyclograph", "data_uri", "eigenvalues",
    "figure_of", "over_time", "phase", "plot", "save", "svg",
]  # fmt: skip
