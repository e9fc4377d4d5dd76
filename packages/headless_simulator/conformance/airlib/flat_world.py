"""A world of flat ground at AirLib's ground height, z = 0, for the missions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Never

import numpy as np
from headless_simulator.airsim.host import Pose6
from headless_simulator.airsim.imaging import no_movers
from headless_simulator.airsim.quad import STANDS_M
from headless_simulator.scene import Ground, Mesh, Movers, Town, UInt8, Weather


class FlatWorld:
    """The ``AirSimHost`` of a flight without images."""

    weather = Weather()
    frame = 0
    time_s = 0.0

    def __init__(self) -> None:
        mesh = Mesh(
            vertices_m=np.array([[-1, -1, 0], [1, -1, 0], [0, 1, 0]], np.float32),
            triangles=np.array([[0, 1, 2]], np.int32),
            colour_rgb=np.zeros((1, 3), np.uint8),
            tag=np.ones(1, np.uint8),
            material=np.zeros(1, np.uint8),
            object_id=np.zeros(1, np.uint32),
        )
        self.town = Town(
            name="Flat",
            opendrive="",
            spawn_points=np.zeros((0, 6)),
            mesh=mesh,
            ground=Ground((-500.0, -500.0), 500.0, np.full((3, 3), -STANDS_M, np.float32)),
            signals=(),
            objects=(),
            walk_polygons=(),
            crosswalks=(),
            speed_limits=np.zeros((0, 3)),
        )

    @property
    def renderer(self) -> Never:
        """Fail: this world has no renderer."""
        raise NotImplementedError("the flat world has no renderer")

    @property
    def models(self) -> Never:
        """Fail: this world has no models."""
        raise NotImplementedError("the flat world has no models")

    def movers(self) -> Movers:
        """Return an empty result."""
        return no_movers()

    def actor_types(self) -> Mapping[int, str]:
        """Return an empty result."""
        return {}

    def signals(self) -> UInt8:
        """Return an empty result."""
        return np.zeros(0, np.uint8)

    def set_weather(self, weather: Weather) -> None:
        """Ignore the weather."""

    def place_actor(self, _actor_id: int, _pose: Pose6) -> bool:
        """Find no actor."""
        return False
