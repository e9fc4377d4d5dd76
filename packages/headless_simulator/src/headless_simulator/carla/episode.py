"""Episode state set by clients: settings and registered Traffic Managers."""

from dataclasses import dataclass, field

from headless_simulator.carla.settings import Settings


@dataclass(slots=True, eq=False)
class Episode:
    """Server state that clients change and that is not part of the world.

    Attributes:
        settings: the clock's settings.
        imu_gravity_mps2: gravity that IMUs add.
        traffic_managers: host by port.
        watchers: connections of clients that requested the episode and therefore cache its actors.
    """

    settings: Settings = field(default_factory=Settings)
    imu_gravity_mps2: float = 9.81
    traffic_managers: dict[int, str] = field(default_factory=dict)
    watchers: set[object] = field(default_factory=set)
