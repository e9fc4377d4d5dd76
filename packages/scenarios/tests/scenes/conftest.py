"""Fixtures of the pipeline's tests that these need, too."""

from tests.conftest import _own_home

__all__ = ["_own_home"]
