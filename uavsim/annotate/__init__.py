"""Recording -> labels: boxes, tracks, visibility, classes; pure, needs no simulator."""

from uavsim.annotate.options import AnnotateOptions, options_of_plan
from uavsim.annotate.scene import annotate
from uavsim.annotate.virtual_lidar import write_virtual_lidar

__all__ = ["AnnotateOptions", "annotate", "options_of_plan", "write_virtual_lidar"]
