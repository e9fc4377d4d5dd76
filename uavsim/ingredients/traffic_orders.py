"""Decide who spawns where and in what colour: pure and seeded, knows no simulator."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from uavsim.errors import SimulatorError
from uavsim.registry import nearest
from uavsim.typing import FloatArray


@dataclass(frozen=True, slots=True)
class BlueprintFacts:
    """The server's report of one vehicle blueprint: recommended values per attribute."""

    blueprint: str
    wheels: int
    base_type: str
    recommended: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class VehicleOrder:
    """One vehicle to spawn; ``place`` is a row of the spawn places."""

    blueprint: str
    attributes: Mapping[str, str]
    place: int


def choose_blueprints(allowed: Sequence[str], known: Sequence[BlueprintFacts]) -> list[BlueprintFacts]:
    """Return the allowed blueprints that the server has, in the order asked for; every four-wheeler when none is named.

    Raises:
        SimulatorError: a blueprint is not in the server's catalogue.
    """
    by_name = {facts.blueprint: facts for facts in known}
    if not allowed:
        return sorted((f for f in known if f.wheels == 4), key=lambda f: f.blueprint)
    missing = [name for name in allowed if name not in by_name]
    if missing:
        guess = nearest(missing[0], by_name)
        hint = f"; the nearest it has is {guess!r}" if guess else ""
        raise SimulatorError(f"the simulator has no blueprint {missing[0]!r}{hint}")
    return [by_name[name] for name in allowed]


def thin_out(places_m: FloatArray, *, taken_m: FloatArray, gap_m: float) -> list[int]:
    """Keep, in order, the rows of ``places_m`` that are ``gap_m`` or more from all kept and taken ones.

    Args:
        places_m: (N, 3) candidates.
        taken_m: (M, 3) occupied already.
        gap_m: least distance between centres.
    """
    kept: list[int] = []
    room = np.empty((len(taken_m) + len(places_m), 3))
    room[: len(taken_m)] = taken_m
    filled = len(taken_m)
    for row, place in enumerate(places_m):
        if filled and np.min(np.sum((room[:filled] - place) ** 2, axis=1)) < gap_m**2:
            continue
        room[filled] = place
        filled += 1
        kept.append(row)
    return kept


def order_vehicles(
    *, count: int, choices: Sequence[BlueprintFacts], places: int, rng: np.random.Generator
) -> list[VehicleOrder]:
    """Draw blueprint, colour and place of every vehicle; at most one vehicle a place.

    Args:
        count: vehicles wanted.
        choices: blueprints to draw from, uniformly.
        places: how many spawn places there are; the first ``count`` of a random order are used.
        rng: the scene's own generator.
    """
    rows = rng.permutation(places)[:count]
    picks = rng.integers(0, len(choices), size=len(rows))
    orders = []
    for row, pick in zip(rows, picks, strict=True):
        facts = choices[int(pick)]
        attributes = {"role_name": "autopilot"}
        for name in ("color", "driver_id"):
            values = facts.recommended.get(name, ())
            if values:
                attributes[name] = values[int(rng.integers(0, len(values)))]
        orders.append(VehicleOrder(facts.blueprint, attributes, int(row)))
    return orders
