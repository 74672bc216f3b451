"""Tests compile what they test: no code comes from a cache unless a test asks for one."""

import os

os.environ["LINKWRIGHT_CACHE"] = "off"
