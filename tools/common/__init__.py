"""Parts that trials, benchmarks and tests share: made-up plans and recordings, small datasets, what a run leaves."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
"""The repository."""
