"""``uavsim view``: a dataset as a Rerun recording: town, drones, images, boxes, tracks, masks, lidars by keyframe."""

from uavsim.view.recording import ViewRequest, write_recording
from uavsim.view.viewer import serve_recording, show_recording

__all__ = ["ViewRequest", "serve_recording", "show_recording", "write_recording"]
