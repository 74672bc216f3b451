"""All about a mechanism on one page that needs no network and no other file."""

from .report_page import page

__all__ = ["page"]
