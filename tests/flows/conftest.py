"""Flows fly the same drawn scenes as the run that they carry out."""

from tests.run.conftest import listening, paper

__all__ = ["listening", "paper"]
