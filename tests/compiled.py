"""Compile all numba kernels ahead, once per machine, so that tests do not wait: python -m tests.compiled.

A simulator that serves both ports compiles its kernels before it listens; writing and validating a small dataset compiles the
pipeline's.
"""

import tempfile
from pathlib import Path

from headless_simulator.testing import running_simulator

from tests.validate.small import write_small
from uavsim.validate import validate_dataset


def main() -> None:
    """Compile all kernels that are not up to date."""
    with running_simulator(), tempfile.TemporaryDirectory() as work:
        validate_dataset(write_small(Path(work, "small"), Path(work)), workers=1)


if __name__ == "__main__":
    main()
