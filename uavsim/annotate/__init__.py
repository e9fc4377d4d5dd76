"""Recording -> labels: boxes, tracks, visibility, classes; pure, needs no simulator."""

from uavsim.annotate.lidar_files import write_lidar_files
from uavsim.annotate.options import AnnotateOptions, options_of_plan
from uavsim.annotate.scene import annotate

__all__ = ["AnnotateOptions", "annotate", "options_of_plan", "write_lidar_files"]
