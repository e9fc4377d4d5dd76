"""Planning contexts of ingredients: a town of a dataset, and each of its scenes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from uavsim.config.dataset import DatasetConfig, TownShare
from uavsim.config.library import Library
from uavsim.config.load import Loaded
from uavsim.config.town import TownConfig
from uavsim.plan import numbering
from uavsim.records.ingredients import all_ingredients
from uavsim.records.plan import SwarmTrajectory
from uavsim.records.sensors import SensorSpec


@dataclass(frozen=True, slots=True, eq=False)
class TownPlan:
    """The common part of one town's scenes.

    Attributes:
        dataset: the scenes' dataset.
        library: finds files by name.
        block: the dataset's value for this ingredient's key.
        share: the dataset's entry for this town.
    """

    dataset: Loaded[DatasetConfig]
    library: Library
    block: Any
    share: TownShare
    town: TownConfig
    rig: tuple[SensorSpec, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SceneToFill:
    """One scene with its planned flight, for its ingredients.

    Attributes:
        number: scene number in the dataset.
        turn: scene count in its town, from 0.
        weather: name of the weather.
        full_swarm: the flight with all samples of the dataset.
        swarm: the flown steps of ``full_swarm``.
        planned: records of the preceding ingredients.
    """

    number: int
    turn: int
    weather: str
    full_swarm: SwarmTrajectory
    swarm: SwarmTrajectory
    dataset_seed: int
    planned: Mapping[str, object]

    def rng(self, stream: str) -> np.random.Generator:
        """Return the scene's own generator for a purpose."""
        return numbering.scene_rng(self.dataset_seed, self.number, stream)

    def seed(self, stream: str) -> int:
        """Return the scene's own seed for a purpose."""
        return numbering.scene_seed(self.dataset_seed, self.number, stream=stream)


ScenePlanner: TypeAlias = Callable[[SceneToFill], object] | object
"""An ingredient's plan record if all scenes of a town share it, such as ``AgentsPlan``; else a function that returns the
scene's record, or None for a scene without one.
"""


def planners(
    dataset: Loaded[DatasetConfig],
    library: Library,
    *,
    share: TownShare,
    town: TownConfig,
    rig: tuple[SensorSpec, ...],
) -> dict[str, ScenePlanner]:
    """Return the planner of each ingredient of a dataset.

    Raises:
        ConfigError: an ingredient's settings are invalid; the message names the line.
    """
    found: dict[str, ScenePlanner] = {}
    for name, ingredient in all_ingredients():
        block = dataset.model.block(ingredient.key) if ingredient.block is not None else None
        if block is None or ingredient.planner is None:
            continue
        planner: ScenePlanner | None = ingredient.planner.load()(TownPlan(dataset, library, block, share, town, rig))
        if planner is not None:
            found[name] = planner
    return found
