"""Tests compile what they test: no code comes from a cache unless a test asks for one.

Examples of Hypothesis are the same in every run, so that a change is judged by itself alone;
`make fuzz` draws new ones.
"""

import os

from hypothesis import settings

os.environ["LINKWRIGHT_CACHE"] = "off"

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("new", deadline=None, print_blob=True)
settings.load_profile("new" if os.environ.get("LINKWRIGHT_FUZZ") else "same")
