"""Channel names: ``CAMERA_FRONT_id_3`` is camera FRONT of drone 3."""

from operator import itemgetter
from typing import Final

from uavsim.records.ingredients import AGENT_KINDS

_BY_LETTER: Final = {kind.letter: kind for kind in AGENT_KINDS.values()}


def channel_without_kind(channel: str) -> str:
    """Return ``FRONT_id_3`` for ``CAMERA_FRONT_id_3``; names of other sensors do not change."""
    return channel.removeprefix("CAMERA_").removeprefix("CAM_")


def agent_id(channel: str) -> str:
    """Return ``3`` for ``CAMERA_FRONT_id_3``, ``v1`` for ``CAM_FRONT_id_v1``; ``0`` for a channel without an agent."""
    _, mark, agent = channel.rpartition("_id_")
    return agent if mark else "0"


def agent_of(channel: str) -> tuple[str, int]:
    """Return kind and number: drone, 3 for ``CAMERA_FRONT_id_3``; vehicle, 1 for ``CAM_FRONT_id_v1``; default: drone, 0."""
    return _split(channel)[1:]


def split_channel(channel: str) -> tuple[str, int]:
    """Return FRONT and 3 for ``CAMERA_FRONT_id_3``; the name itself and 0 for a channel without an agent.

    Numbers of agents on the ground differ from those of drones: vehicle ``v1`` is 1001, roadside unit ``r1`` is -2.
    """
    name, kind, number = _split(channel)
    return name, AGENT_KINDS[kind].first_id + AGENT_KINDS[kind].id_step * number


def agent_name(number: int) -> str:
    """Return the agent's name for a number of ``split_channel``: v1 for 1001, r1 for -2, drone 3 for 3."""
    counted = ((kind.id_step * (number - kind.first_id), kind) for kind in AGENT_KINDS.values())
    nth, kind = min((each for each in counted if each[0] >= 0), key=itemgetter(0))
    return f"{kind.letter or f'{kind.name} '}{nth}"


def _split(channel: str) -> tuple[str, str, int]:
    name, _, agent = channel_without_kind(channel).rpartition("_id_")
    kind = _BY_LETTER.get(agent[:1], _BY_LETTER[""])
    number = agent.removeprefix(kind.letter)
    return (name, kind.name, int(number)) if name and number.isdecimal() else (channel, _BY_LETTER[""].name, 0)
