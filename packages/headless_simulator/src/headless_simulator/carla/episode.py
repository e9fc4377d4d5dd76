"""Settings of the whole episode by its clients, and the Traffic Managers that they registered."""

from dataclasses import dataclass, field

from headless_simulator.carla.settings import Settings


@dataclass(slots=True, eq=False)
class Episode:
    """State of the server that clients change and that is no part of the world.

    Attributes:
        settings: of the clock.
        imu_gravity_mps2: gravity that IMUs add.
        traffic_managers: host by port.
        watchers: connections of the clients that asked for the episode, and so keep what they are given of its actors.
    """

    settings: Settings = field(default_factory=Settings)
    imu_gravity_mps2: float = 9.81
    traffic_managers: dict[int, str] = field(default_factory=dict)
    watchers: set[object] = field(default_factory=set)
