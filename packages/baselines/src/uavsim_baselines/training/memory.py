"""Too little memory, reported in one line with the settings that help."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from uavsim_baselines.config import Config
from uavsim_baselines.errors import OutOfMemory


@contextmanager
def with_memory_reported(config: Config, *, device: torch.device) -> Iterator[None]:
    """Turn a failed allocation into ``OutOfMemory``; any other error passes.

    Raises:
        OutOfMemory: the machine or the GPU has too little memory.
    """
    try:
        yield
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise _reported(config, device) from error
    except RuntimeError as error:
        if "alloc" not in str(error) or "memory" not in str(error):  # the processor's allocator has no class of its own
            raise
        raise _reported(config, device) from error


def _reported(config: Config, device: torch.device) -> OutOfMemory:
    size = "x".join(map(str, config.data.size_px)) if config.data.size_px else "as they are"
    return OutOfMemory(
        f"{device.type}: not enough memory for batches of {config.training.batch} with images {size} and "
        f"{config.grid.cells} x {config.grid.cells} cells; reduce training.batch, data.size_px or grid.cells"
    )
