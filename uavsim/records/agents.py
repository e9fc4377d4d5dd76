"""The table of agent kinds. A new kind needs an entry here and an ingredient with its agents.

New kinds come last: seeds depend on the order.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

AgentKindName: TypeAlias = Literal["drone", "vehicle", "roadside"]


@dataclass(frozen=True, slots=True)
class AgentKind:
    """Properties of an agent kind that the pipeline branches on.

    Attributes:
        plural: names several of them in a table.
        letter: first letter of the agents' ids, ``v1``; drones' ids are only a number.
        first_id: first number of its agents in a column with agents of all kinds.
        id_step: step between these numbers, 1 or -1.
        seed_offset: added to an agent's number in the seed of its degradations.
        flies: in the air for ``links``; its cameras are called ``CAMERA`` as in UAV3D, others ``CAM`` as in nuScenes.
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
