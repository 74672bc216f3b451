"""Compiled functions of a mechanism: calls, help, guards, certified digits."""

from .compilation import compile  # noqa: A004
from .model import Model

__all__ = ["Model", "compile"]
