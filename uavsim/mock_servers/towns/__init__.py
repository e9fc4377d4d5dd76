"""The towns of the headless simulator: procedural look-alikes of CARLA's, and any OpenDRIVE file."""

from uavsim.mock_servers.towns.errors import OpenDriveRefused, TownRefused
from uavsim.mock_servers.towns.load import NAMES, load_opendrive, load_town

__all__ = ["NAMES", "OpenDriveRefused", "TownRefused", "load_opendrive", "load_town"]
