"""Shared parts of trials, benchmarks and tests: synthetic plans and recordings, small datasets, checks of leftovers."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
"""The repository."""
