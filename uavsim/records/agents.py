"""The kinds of agents.

A new kind needs an entry here and an ingredient with its agents. Append it, because seeds depend on the order.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

AgentKindName: TypeAlias = Literal["drone", "vehicle", "roadside"]


@dataclass(frozen=True, slots=True)
class AgentKind:
    """Properties of an agent kind that the pipeline branches on.

    Attributes:
        plural: name of several agents.
        letter: first letter of agent ids, ``v1``; ids of drones are numbers.
        first_id: first of the numbers that identify agents of all kinds in one column.
        id_step: step of these numbers, 1 or -1.
        seed_offset: added to an agent's number in the seed of its degradations.
        flies: is in the air for ``links``; prefix of its cameras is ``CAMERA`` as in UAV3D, else ``CAM`` as in nuScenes.
    """

    name: AgentKindName
    plural: str
    letter: str
    first_id: int
    id_step: int
    seed_offset: int
    flies: bool = False


AGENT_KINDS: Final[Mapping[str, AgentKind]] = {
    kind.name: kind
    for kind in (
        AgentKind("drone", "drones", "", first_id=0, id_step=1, seed_offset=0, flies=True),
        AgentKind("vehicle", "vehicles", "v", first_id=1000, id_step=1, seed_offset=1000),
        AgentKind("roadside", "roadside", "r", first_id=-1, id_step=-1, seed_offset=2000),
    )
}
