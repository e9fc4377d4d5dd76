"""Names of channels: ``CAMERA_FRONT_id_3`` is camera FRONT of drone 3; ``ScenePlan`` makes these names."""

from operator import itemgetter
from typing import Final

from uavsim.records.agents import AGENT_KINDS

_BY_LETTER: Final = {kind.letter: kind for kind in AGENT_KINDS.values()}


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
    return name, AGENT_KINDS[kind].first_id + AGENT_KINDS[kind].id_step * number


def agent_name(number: int) -> str:
    """Return the agent with a number of ``split_channel``: v1 has 1001, r1 has -2, drone 3 has 3."""
    counted = ((kind.id_step * (number - kind.first_id), kind) for kind in AGENT_KINDS.values())
    nth, kind = min((each for each in counted if each[0] >= 0), key=itemgetter(0))
    return f"{kind.letter or f'{kind.name} '}{nth}"


def _split(channel: str) -> tuple[str, str, int]:
    name, _, agent = channel_without_kind(channel).rpartition("_id_")
    kind = _BY_LETTER.get(agent[:1], _BY_LETTER[""])
    number = agent.removeprefix(kind.letter)
    return (name, kind.name, int(number)) if name and number.isdecimal() else (channel, _BY_LETTER[""].name, 0)
