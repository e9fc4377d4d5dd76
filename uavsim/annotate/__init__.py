"""Recording -> labels: boxes, tracks, visibility, classes. Needs no simulator."""

from uavsim.annotate.options import AnnotateOptions, options_of_plan
from uavsim.annotate.scene import annotate, write_label_files

__all__ = ["AnnotateOptions", "annotate", "options_of_plan", "write_label_files"]
