"""The cars of the traffic that carry sensors: pure, knows no simulator. Map frame, metres."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from uavsim.errors import SceneVoid
from uavsim.ingredients.vehicles.records import VehiclesPlan
from uavsim.typing import FloatArray


@dataclass(frozen=True, slots=True)
class Candidate:
    """A car of the traffic on which the rig fits."""

    actor_id: int
    blueprint: str
    x_m: float
    y_m: float

    def away_m(self, places_m: FloatArray) -> float:
        """Return how far it is from the nearest of (N, 2) places."""
        return float(np.linalg.norm(places_m - (self.x_m, self.y_m), axis=1).min())


def chosen(candidates: Sequence[Candidate], record: VehiclesPlan, way_m: FloatArray) -> list[int]:
    """Return the actors that carry the agents; those nearest to given places first, ties go by the actor's id.

    Args:
        candidates: of the traffic.
        record: what is asked for.
        way_m: (K, 2) that the swarm's first drone flies.

    Raises:
        SceneVoid: too few are as asked for.
    """
    near_m = way_m if record.near == "route" else way_m[:1]
    reach_m = np.inf if record.within_m is None else record.within_m
    fit = [c for c in candidates if fnmatchcase(c.blueprint, record.blueprint) and c.away_m(near_m) <= reach_m]
    if len(fit) < len(record.agents):
        raise SceneVoid(
            f"{len(record.agents)} vehicles are to carry the rig {record.rig_name}, and {len(fit)} of the traffic's "
            f"{len(candidates)} cars on which it fits are {_asked(record)}"
        )
    found: list[int] = []
    for place_m in [np.array([place]) for place in record.at] + [near_m] * (len(record.agents) - len(record.at)):
        left = [c for c in fit if c.actor_id not in found]
        found.append(min(left, key=lambda c: (c.away_m(place_m), c.actor_id)).actor_id)
    return found


def _asked(record: VehiclesPlan) -> str:
    blueprint = "there" if record.blueprint == "*" else f"a {record.blueprint}"
    reach = "" if record.within_m is None else f" within {record.within_m:g} m of the swarm's {record.near}"
    return f"{blueprint}{reach}: sensors have to be outside of a car's body"
