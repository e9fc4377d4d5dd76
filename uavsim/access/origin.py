"""The simulator of a dataset's images, and the sentences about it in reports and dataset cards."""

from collections.abc import Mapping
from typing import Final

from uavsim.typing import JsonDict

HEADLESS: Final = "headless simulator"
HEADLESS_LIMIT: Final = (
    "The headless simulator draws boxes, prisms and simple meshes in procedural towns. Its images teach a detector nothing "
    "about real streets. It is for code, tests, labels and geometry."
)
"""Sentences of docs/limits.md about simulators."""


def simulator_of(log: JsonDict) -> str:
    """Return a scene's simulator by its row of ``log``: the headless simulator, or CARLA with its version; "" if unknown."""
    kind, version = str(log.get("uav_simulator") or ""), str(log.get("uav_server_version") or "")
    if kind == "headless":
        return HEADLESS
    return f"{'CARLA' if kind == 'unreal' else kind} {version}".strip() if kind else ""


def origin_of_scenes(scenes: Mapping[str, int]) -> str:
    """Return the sentences about the simulators of the images; "" if one is unknown.

    Args:
        scenes: scene counts by simulator (``simulator_of``).
    """
    if not scenes or "" in scenes:
        return ""
    if HEADLESS not in scenes:
        return f"Images by {', '.join(sorted(scenes))}."
    others = sorted(set(scenes) - {HEADLESS})
    which = f"{scenes[HEADLESS]:,} of {sum(scenes.values()):,} scenes are from it; the others from {', '.join(others)}."
    return f"{HEADLESS_LIMIT} {which}" if others else HEADLESS_LIMIT
