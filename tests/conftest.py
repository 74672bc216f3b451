"""Tests compile what they test, once: compiled code is shared within a session, in a folder that
begins empty and goes with it.

Examples of Hypothesis are the same in every run, so that a change is judged by itself alone;
`make fuzz` draws new ones.
"""

import gc
import os
import shutil
import tempfile

import pytest
from hypothesis import settings

from tests import commands

COLLECTED_OBJECTS = 100_000
"""New objects between collections of garbage (Python's own default is 700)."""


def pytest_configure(config: pytest.Config) -> None:
    """Made before there are workers, which inherit it, as all their commands do."""
    if not hasattr(config, "workerinput"):
        config.shared_code = tempfile.mkdtemp(prefix="linkwright-tests-")
        os.environ["LINKWRIGHT_CACHE"] = config.shared_code


def pytest_collection_finish() -> None:
    """Takes what collecting has made out of the garbage collector's way: tests make much, and most
    of it goes by reference counts."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECTED_OBJECTS)


def pytest_unconfigure(config: pytest.Config) -> None:
    commands.end_server()
    if hasattr(config, "shared_code"):
        shutil.rmtree(config.shared_code, ignore_errors=True)


settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("new", deadline=None, print_blob=True)
settings.load_profile("new" if os.environ.get("LINKWRIGHT_FUZZ") else "same")
