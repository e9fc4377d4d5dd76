"""Flows use the same synthetic scenes as the tests of runs."""

from tests.run.conftest import listening, paper

__all__ = ["listening", "paper"]
