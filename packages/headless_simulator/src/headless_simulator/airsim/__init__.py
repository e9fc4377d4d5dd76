"""A headless AirSim 1.8.1: the real client's protocol, real flight, images from the renderer that CARLA's port uses."""

from headless_simulator.airsim.host import AirSimHost
from headless_simulator.airsim.server import AirSimServer
from headless_simulator.airsim.settings import AirSimSettings, SettingsError, read_settings

__all__ = ["AirSimHost", "AirSimServer", "AirSimSettings", "SettingsError", "read_settings"]
