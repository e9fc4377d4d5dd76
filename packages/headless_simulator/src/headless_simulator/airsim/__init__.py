"""A headless AirSim 1.8.1: its wire protocol, its flight dynamics, and images of the renderer shared with CARLA's port."""

from headless_simulator.airsim.host import AirSimHost
from headless_simulator.airsim.server import AirSimServer
from headless_simulator.airsim.settings import AirSimSettings, SettingsError, read_settings

__all__ = ["AirSimHost", "AirSimServer", "AirSimSettings", "SettingsError", "read_settings"]
