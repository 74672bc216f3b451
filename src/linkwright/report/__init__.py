"""The page of a mechanism: everything about it in one HTML file that needs no network."""

from .report_page import page

__all__ = ["page"]
