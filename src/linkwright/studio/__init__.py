"""The studio: a local page that shows a mechanism file while a person edits it."""

from .studio_server import StudioAddress, serve_studio

__all__ = ["StudioAddress", "serve_studio"]
