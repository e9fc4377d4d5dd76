"""A plan's records of traffic."""

from dataclasses import dataclass

__all__ = ["TrafficPlan"]


@dataclass(frozen=True, slots=True)
class TrafficPlan:
    """The requested vehicles; the recording says what spawned."""

    vehicles: int
    blueprints: tuple[str, ...] = ()  # allowed vehicle blueprints of the server's version; empty: every four-wheeler
    hybrid_physics: bool = False
    speed_difference_percent: float = 0.0  # Traffic Manager: negative drives faster than the limit
    following_distance_m: float = 2.5
    spawn_on_waypoints: bool = True  # fill up on lane waypoints when the map has too few spawn points
