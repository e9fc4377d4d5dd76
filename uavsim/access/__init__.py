"""Lazy access to nuScenes-format datasets of all installed dialects as typed arrays in named frames."""

from uavsim.access.asynchrony import KnownImages
from uavsim.access.boxes import Boxes, Track
from uavsim.access.folder import Dataset, open_folder
from uavsim.access.images import Image, LidarScan, RadarScan
from uavsim.access.origin import HEADLESS, origin_of_scenes, simulator_of
from uavsim.access.scenes import Sample, Scene
from uavsim.access.streams import SensorStream
from uavsim.access.towns import TownMap

__all__ = [
    "HEADLESS",
    "Boxes",
    "Dataset",
    "Image",
    "KnownImages",
    "LidarScan",
    "RadarScan",
    "Sample",
    "Scene",
    "SensorStream",
    "TownMap",
    "Track",
    "open_folder",
    "origin_of_scenes",
    "simulator_of",
]
