"""Small hand-made towns, and a renderer that draws nothing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from headless_simulator.models import ModelLibrary
from headless_simulator.scene import Ground, Mesh, SignalHead, StaticObject, Town
from headless_simulator.world.world import World

EMPTY_MESH = Mesh(
    np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int32), np.zeros((0, 3), np.uint8),
    np.zeros(0, np.uint8), np.zeros(0, np.uint8), np.zeros(0, np.uint32),
)  # fmt: skip


class NoRenderer:
    def render(self, *_args, **_kwargs):
        raise AssertionError("nothing is drawn in these tests")

    cast = render

    def without(self, object_ids: frozenset[int]) -> NoRenderer:
        return self

    def untagged(self, tags: frozenset[int]) -> NoRenderer:
        return self

    def painted(self, colours: Mapping[int, tuple[int, int, int]], lamps: Mapping[int, float]) -> NoRenderer:
        return self

    def streamed(self, tiles: frozenset[tuple[int, int]]) -> NoRenderer:
        return self


def head(group: int, stage: int, x: float) -> SignalHead:
    return SignalHead(
        (x, 0.0, 0.0, 0.0, 0.0, 0.0), f"s{group}{stage}", group, stage, np.zeros((0, 6)),
        (x, 0.0, 1.0, 5.0, 2.0, 1.0, 0.0), np.zeros(0, np.int32),
    )  # fmt: skip


def town(*, slope: float = 0.0, signals: tuple[SignalHead, ...] = (), objects: tuple[StaticObject, ...] = ()) -> Town:
    """A plane that rises by ``slope`` metres a metre along x."""
    x = np.arange(-500.0, 501.0, 10.0)
    height = np.broadcast_to(slope * x, (len(x), len(x))).astype(np.float32)
    walks = ((((0.0, 0.0, 0.0), (4.0, 0.0, 0.0), (4.0, 4.0, 0.0), (0.0, 4.0, 0.0)), "sidewalk"),)
    spawns = np.array([[0.0, 0.0, 0.3, 0.0, 0.0, 0.0], [20.0, 0.0, 0.3, 0.0, 90.0, 0.0]])
    limits = np.array([[0.0, 0.0, 30.0], [100.0, 0.0, 90.0]])
    return Town(
        "Paper", "<OpenDRIVE/>", spawns, EMPTY_MESH, Ground((-500.0, -500.0), 10.0, height), signals, objects, walks,
        (), limits, georeference=(40.0, 10.0),
    )  # fmt: skip


def world(**fields) -> World:
    return World(town(**fields), models=ModelLibrary(), renderer_of=lambda _: NoRenderer())
