"""What a channel's name reports: ``CAMERA_FRONT_id_3`` is camera FRONT of drone 3; ``ScenePlan`` makes these names."""

from __future__ import annotations

__all__ = ["channel_without_kind", "split_channel"]


def channel_without_kind(channel: str) -> str:
    """Return ``FRONT_id_3`` of ``CAMERA_FRONT_id_3``; another sensor's name as it is."""
    return channel.removeprefix("CAMERA_")


def split_channel(channel: str) -> tuple[str, int]:
    """Return FRONT and 3 of ``CAMERA_FRONT_id_3``; of a channel that names no drone its whole name and 0."""
    name, _, number = channel_without_kind(channel).rpartition("_id_")
    return (name, int(number)) if name and number.isdecimal() else (channel, 0)
