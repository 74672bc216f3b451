"""All about a mechanism on one page that needs no network and no other file."""

from .document import page

__all__ = ["page"]
