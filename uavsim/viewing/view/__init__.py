"""``uavsim view``: a dataset as a Rerun recording: town, drones, images, boxes, tracks, masks, lidars by keyframe."""

from uavsim.viewing.view.recording import ViewRequest, ViewSummary, send_recording, write_recording
from uavsim.viewing.view.viewer import open_viewer

__all__ = ["ViewRequest", "ViewSummary", "open_viewer", "send_recording", "write_recording"]
