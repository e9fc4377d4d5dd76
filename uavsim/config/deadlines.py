"""Deadlines of a run, for every call to a simulator."""

from pydantic import Field

from uavsim.config.base import Model

__all__ = ["Deadlines"]


class Deadlines(Model):
    """The longest time of each kind of call to a simulator, and of a scene, seconds.

    The defaults suit a real server that compiles shaders and loads a large map. The supervisor's limit (``silence_s``)
    is longer than any call, so that the call's own time-out comes first and names the call.
    """

    connect_s: float = Field(default=60.0, gt=0, description="start of a client process, before its first call")
    # Every call waits for the game thread, tick_cue too. Unreal itself gives up after 60 s without its render thread, and says
    # more than a time-out.
    call_s: float = Field(
        default=90.0, gt=0, description="one call to CARLA, a tick too; the first ones compile shaders"
    )
    load_s: float = Field(default=300.0, gt=0, description="load_world; large maps and first starts take minutes")
    spawn_s: float = Field(default=180.0, gt=0, description="all actors of one kind, which are many calls")
    images_s: float = Field(default=60.0, gt=0, description="from a tick until the arrival of its last image")
    airsim_s: float = Field(default=30.0, gt=0, description="one call to AirSim; for images it grows with their size")
    scene_s: float = Field(default=7200.0, gt=0, description="one scene")

    @property
    def hang_s(self) -> float:
        """Longest time for a client to return from a tick: longer than any call to CARLA."""
        return self.call_s + 10.0

    def silence_s(self, phase: str) -> float:
        """Return the longest silence of a client process in ``phase``: each call may come once between two signs of life."""
        flight_s = self.images_s + self.airsim_s
        slowest_s = {"connect": self.connect_s, "load": self.load_s, "spawn": self.spawn_s}.get(phase, flight_s)
        return self.call_s + slowest_s
