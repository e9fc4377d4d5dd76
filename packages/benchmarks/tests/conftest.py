"""Fixtures shared with the pipeline's tests."""

from tests.conftest import _own_home

__all__ = ["_own_home"]
