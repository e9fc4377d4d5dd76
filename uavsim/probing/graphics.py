"""Checks of graphics cards by their driver: before a flight, and while a server renders."""

from collections.abc import Iterator
from typing import Final

from uavsim.config.run import SimulatorConfig
from uavsim.probing.finding import Finding
from uavsim.supervise.health import LOW_FREE_GPU_MB, ask_cards, is_on_this_machine, memory_mb

_LEAST_USED_MB: Final = 1000  # an Unreal server that renders on a card holds more, with any map
_FULL: Final = "end other programs on it, or use fewer or smaller cameras: full memory spoils images without an error"


def cards() -> Iterator[Finding]:
    """Check the cards; a real server without a card silently renders on the processor, 10 to 100 times slower."""
    rows = ask_cards("index,name,memory.free,driver_version")
    if rows is None:
        yield Finding(
            "warning",
            "graphics card",
            "no NVIDIA driver was found",
            "fine for the headless simulator; a real CARLA server on this machine would render on the processor",
        )
    for index, name, free_mb, driver in rows or ():
        low = free_mb.isdigit() and int(free_mb) < LOW_FREE_GPU_MB
        found = f"{index}: {name}, {free_mb} MB free, driver {driver}"
        yield Finding("warning" if low else "good", "graphics card", found, _FULL if low else "")


def cards_in_flight(what: str, config: SimulatorConfig, *, simulator: str) -> Iterator[Finding]:
    """Check the cards while a server renders; yields nothing for a server on another machine, or without a card.

    Args:
        what: subject of the findings.
        config: configuration of the simulator.
        simulator: recorded kind of the server: ``unreal`` or another.
    """
    if simulator != "unreal" or not is_on_this_machine(config):
        return
    used, free = memory_mb("used", config.gpu), memory_mb("free", config.gpu)
    if used and max(used) < _LEAST_USED_MB:
        yield Finding(
            "warning",
            f"{what} graphics memory",
            f"no card of this machine has more than {max(used)} MB in use while the server renders",
            "does it render on the processor (lavapipe, llvmpipe)? Give it the card's Vulkan driver; docker needs --gpus all",
        )
    elif free:
        low = min(free) < LOW_FREE_GPU_MB
        found = f"{min(free)} MB free while the server renders"
        yield Finding("warning" if low else "good", f"{what} graphics memory", found, _FULL if low else "")
