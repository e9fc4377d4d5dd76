"""Detects stalled traffic: the share of the Traffic Manager's vehicles that move.

Real servers are known to leave a part of the traffic standing (carla issues 5940, 3860), while such scenes look complete.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from uavsim.errors import TrafficStalled
from uavsim.records.ingredients import actor_kind, ingredients_of
from uavsim.records.motion import TickMotion
from uavsim.records.plan import ScenePlan
from uavsim.simulate.ports import SceneTraffic
from uavsim.typing import AnyArray, IntArray

IN_WARMUP: Final = "moved_in_warmup"
IN_SCENE: Final = "moved_in_scene"
"""The two watched spans of a scene; fields of ``SessionFacts``."""
_CALLED: Final[Mapping[str, str]] = {IN_WARMUP: "the warm-up", IN_SCENE: "the scene"}
_MOVED_M: Final = 1.0
_LONG_ENOUGH_S: Final = 3.0  # shorter spans are measured but not judged, because vehicles start from rest
_ENOUGH_VEHICLES: Final = 5  # fewer may all wait for one another


class _Span:
    """A span of a scene.

    Attributes:
        ticks: number of added ticks.
    """

    def __init__(self, instance_id: IntArray) -> None:
        self._ids, self.ticks = instance_id, 0
        self._first_m = np.full((len(instance_id), 2), np.nan)
        self._moved = np.zeros(len(instance_id), np.bool_)
        self._held = np.zeros(len(instance_id), np.bool_)

    def add(self, motion: TickMotion) -> None:
        """Add a tick."""
        self.ticks += 1
        rows = np.flatnonzero(np.isin(motion.instance_id, self._ids))
        watched = np.searchsorted(self._ids, motion.instance_id[rows])
        now_m: AnyArray = motion.ue_pose[rows, :2].astype(np.float64)
        self._first_m[watched] = np.where(np.isnan(self._first_m[watched]), now_m, self._first_m[watched])
        self._moved[watched] |= np.linalg.norm(now_m - self._first_m[watched], axis=1) > _MOVED_M
        self._held[watched] |= motion.is_held[rows]

    @property
    def count(self) -> tuple[int, int]:
        """Number of vehicles that no traffic light held, and of those that moved; a vehicle that moved was not held."""
        watched = np.isfinite(self._first_m).all(axis=1)
        return int((watched & (self._moved | ~self._held)).sum()), int(self._moved.sum())


class TrafficWatch:
    """Watches a scene's traffic; it ignores replays and backends without motion."""

    def __init__(self, traffic: SceneTraffic, plan: ScenePlan) -> None:
        """Select the driven actors."""
        replays = any(used.ingredient.replays is not None for used in ingredients_of(plan.ingredients))
        driven = sorted(info.instance_id for info in traffic.actors if actor_kind(info.kind).is_driven)
        self._least, self._step_s = plan.min_moving_share, plan.step_us / 1e6
        self._ids = np.array([] if replays else driven, dtype=np.int64)
        self._spans = {name: _Span(self._ids) for name in (IN_WARMUP, IN_SCENE)}

    def add(self, name: str, motion: TickMotion | None) -> None:
        """Add a tick to a span."""
        if motion is not None and len(self._ids):
            self._spans[name].add(motion)

    def check(self, name: str) -> None:
        """Judge a finished span.

        Raises:
            TrafficStalled: fewer vehicles moved than the dataset requires.
        """
        span = self._spans[name]
        (free, moved), seconds = span.count, span.ticks * self._step_s
        if seconds < _LONG_ENOUGH_S or free < _ENOUGH_VEHICLES or moved >= self._least * free:
            return
        raise TrafficStalled(
            f"{moved} of {free} vehicles that no light held moved more than {_MOVED_M:g} m in {_CALLED[name]} of "
            f"{seconds:.1f} s; min_moving_share is {self._least:g}: the Traffic Manager stalls (docs/troubleshooting.md)"
        )

    def counts(self) -> dict[str, tuple[int, int]]:
        """Return (vehicles that no light held, vehicles that moved) by span, without unwatched spans."""
        return {name: span.count for name, span in self._spans.items() if span.count[0]}
