"""The command line: `linkwright`."""

from .main import main

__all__ = ["main"]
