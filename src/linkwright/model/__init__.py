"""Compiled functions of a mechanism: calls, help, guards, certified digits."""

from .model import Model, compile  # noqa: A004

__all__ = ["Model", "compile"]
