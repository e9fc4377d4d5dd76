"""What a channel's name reports: ``CAMERA_FRONT_id_3`` is camera FRONT of drone 3; ``ScenePlan`` makes these names."""

from __future__ import annotations

from typing import Final

__all__ = ["channel_without_kind", "split_channel"]

_FIRST_VEHICLE: Final = 1000


def channel_without_kind(channel: str) -> str:
    """Return ``FRONT_id_3`` of ``CAMERA_FRONT_id_3``; another sensor's name as it is."""
    return channel.removeprefix("CAMERA_").removeprefix("CAM_")


def split_channel(channel: str) -> tuple[str, int]:
    """Return FRONT and 3 of ``CAMERA_FRONT_id_3``; of a channel that names no agent its whole name and 0.

    Numbers of agents on the ground are apart from all drones': vehicle ``v1`` is 1001, roadside unit ``r1`` is -2.
    """
    name, _, agent = channel_without_kind(channel).rpartition("_id_")
    kind, number = (agent[:1], agent[1:]) if agent[:1] in ("v", "r") else ("", agent)
    if not (name and number.isdecimal()):
        return channel, 0
    return name, _FIRST_VEHICLE + int(number) if kind == "v" else -1 - int(number) if kind else int(number)
