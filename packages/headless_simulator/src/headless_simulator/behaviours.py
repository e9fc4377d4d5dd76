"""Selectable behaviours for cases in which real servers differ, deviate from the ideal, or have uncertain evidence.

Each behaviour is documented publicly for a real server. ``--behaviour NAME=VALUE`` selects one, ``--behaviour unreal`` all
known behaviours of a build on Unreal. A client that is correct under every value is correct on an unknown server.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

__all__ = ["BEHAVIOURS", "IDEAL", "UNREAL", "Behaviour", "BehaviourError", "Behaviours", "behaviours_of"]


class BehaviourError(ValueError):
    """Unknown behaviour or value; the message is one line."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One behaviour.

    Attributes:
        values: selectable values, the default first.
        unreal: the known value of a build on Unreal.
    """

    values: tuple[str, ...]
    unreal: str


BEHAVIOURS: Final[Mapping[str, Behaviour]] = MappingProxyType(
    {
        # The tick after listen() that sends the first image. Source: carla PR 5616: since 0.9.14 the next, before the second.
        "first-image": Behaviour(("next", "second"), "second"),
        # late: after stop() a camera draws one more image, which no client receives.
        # Source: LibCarla, ServerSession.cpp: a server notices a closed connection when it writes to it.
        "stop": Behaviour(("at-once", "late"), "late"),
        # Cameras draw under no_rendering_mode in any case; slows: and each tick takes longer than the one before.
        # Source: carla issues 9535, 5502, 4015; CarlaEngine.cpp, OnEpisodeSettingsChanged.
        "no-rendering": Behaviour(("draws", "slows"), "slows"),
        # streamed: towns over 3 km have tiles, dormant actors and sensor headers relative to an origin that moves.
        # Source: carla issues 6089, 6157; LargeMapManager.cpp, WorldObserver.cpp, AsyncDataStreamImpl.h.
        "large-map": Behaviour(("whole", "streamed"), "streamed"),
        # adapts: RGB cameras obey exposure_mode; histogram adapts over the frames they draw, the first is too bright.
        # Source: carla issue 6725, ros-bridge PR 372; SceneCaptureSensor.cpp; Unreal 4.26, PostProcessEyeAdaptation.cpp.
        "exposure": Behaviour(("fixed", "adapts"), "adapts"),
        # unlisted: get_environment_objects returns no vehicles, although parked ones are drawn.
        # Source: carla issues 9424, 9427: builds of ue4-dev of November 2025; 0.9.16 lists them.
        "parked": Behaviour(("listed", "unlisted"), "listed"),
        # stale: for 0.3 s or 2 ticks after simSetVehiclePose AirSim answers the previous pose.
        # Source: AirSim issues 3049, 1246; MultirotorPawnSimApi.cpp.
        "set-pose": Behaviour(("at-once", "stale"), "stale"),
        # stepped: simContinueForTime stops alternately a 3 ms step early and late; exact: the next call compensates.
        # Source: AirSim issues 3206, 1719.
        "continue": Behaviour(("exact", "stepped"), "stepped"),
        # slow: AirSim's reset() does not answer from its third call on.
        # Source: carla-air-testbed, measurements of 2026-07-31 to 2026-08-05.
        "reset": Behaviour(("quick", "slow"), "slow"),
    }
)


class Behaviours(Mapping[str, str]):
    """The selected value of each behaviour."""

    def __init__(self, chosen: Mapping[str, str] = MappingProxyType({})) -> None:
        """Select values; other behaviours keep their defaults."""
        self._chosen = {name: chosen.get(name, behaviour.values[0]) for name, behaviour in BEHAVIOURS.items()}

    def __getitem__(self, name: str) -> str:
        return self._chosen[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._chosen)

    def __len__(self) -> int:
        return len(self._chosen)


IDEAL: Final = Behaviours()
UNREAL: Final = Behaviours({name: behaviour.unreal for name, behaviour in BEHAVIOURS.items()})


def behaviours_of(words: Sequence[str]) -> Behaviours:
    """Parse ``NAME=VALUE`` words; ``unreal`` selects all values of a build on Unreal, and later words override it.

    Raises:
        BehaviourError: unknown behaviour or value.
    """
    chosen: dict[str, str] = {}
    for word in words:
        if word == "unreal":
            chosen |= UNREAL
            continue
        name, _, value = word.partition("=")
        if name not in BEHAVIOURS:
            raise BehaviourError(f"unknown behaviour {name!r}; choose from unreal, {', '.join(BEHAVIOURS)}")
        if value not in BEHAVIOURS[name].values:
            raise BehaviourError(f"{name} must be {' or '.join(BEHAVIOURS[name].values)}, not {value!r}")
        chosen[name] = value
    return Behaviours(chosen)
