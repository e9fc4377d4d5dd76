"""Names of channels: ``CAMERA_FRONT_id_3`` is camera FRONT of drone 3; ``ScenePlan`` makes these names."""

from typing import Final

_FIRST_VEHICLE: Final = 1000
_KINDS: Final = {"v": "vehicle", "r": "roadside"}


def channel_without_kind(channel: str) -> str:
    """Return ``FRONT_id_3`` of ``CAMERA_FRONT_id_3``; another sensor's name as it is."""
    return channel.removeprefix("CAMERA_").removeprefix("CAM_")


def agent_id(channel: str) -> str:
    """Return 3 of ``CAMERA_FRONT_id_3``, v1 of ``CAM_FRONT_id_v1``, as users name agents; 0 where none is named."""
    _, mark, agent = channel.rpartition("_id_")
    return agent if mark else "0"


def agent_of(channel: str) -> tuple[str, int]:
    """Return drone and 3 of ``CAMERA_FRONT_id_3``, vehicle and 1 of ``CAM_FRONT_id_v1``; drone and 0 where none is named."""
    return _split(channel)[1:]


def split_channel(channel: str) -> tuple[str, int]:
    """Return FRONT and 3 of ``CAMERA_FRONT_id_3``; of a channel that names no agent its whole name and 0.

    Numbers of agents on the ground are apart from all drones': vehicle ``v1`` is 1001, roadside unit ``r1`` is -2.
    """
    name, kind, number = _split(channel)
    return name, _FIRST_VEHICLE + number if kind == "vehicle" else -1 - number if kind == "roadside" else number


def agent_name(number: int) -> str:
    """Return who has a number of ``split_channel``: v1 has 1001, r1 has -2, drone 3 has 3."""
    if number < 0:
        return f"r{-1 - number}"
    return f"v{number - _FIRST_VEHICLE}" if number >= _FIRST_VEHICLE else f"drone {number}"


def _split(channel: str) -> tuple[str, str, int]:
    name, _, agent = channel_without_kind(channel).rpartition("_id_")
    kind = _KINDS.get(agent[:1], "drone")
    number = agent if kind == "drone" else agent[1:]
    return (name, kind, int(number)) if name and number.isdecimal() else (channel, "drone", 0)
