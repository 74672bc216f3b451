"""The page of a mechanism: everything about it in one HTML file that needs no network."""

from .lecture import lecture_page
from .report_page import page

__all__ = ["lecture_page", "page"]
