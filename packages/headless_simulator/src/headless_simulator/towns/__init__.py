"""The towns of the headless simulator: procedural look-alikes of CARLA's, and any OpenDRIVE file."""

from headless_simulator.towns.errors import OpenDriveRefused, TownRefused
from headless_simulator.towns.load import NAMES, load_opendrive, load_town

__all__ = ["NAMES", "OpenDriveRefused", "TownRefused", "load_opendrive", "load_town"]
