"""Refuse scenes with blank images before they are labelled."""

from uavsim.errors import SceneVoid
from uavsim.images.codec import decode_rgb
from uavsim.records.modalities import RGB
from uavsim.records.recording import Recording


def refuse_blank_images(recording: Recording) -> None:
    """Refuse a scene with first images of a single colour, a symptom of full graphics memory.

    Raises:
        SceneVoid: every first image of the first drone is of one colour.
    """
    first = recording.frames[0]
    images = [r for r in first.with_modality(RGB) if r.sensor.agent == first.cameras[0].sensor.agent]
    spans = [
        int(image.max()) - int(image.min()) for image in (decode_rgb(recording.folder / r.files[RGB]) for r in images)
    ]
    if spans and max(spans) <= 2:
        raise SceneVoid(
            "every image is of one colour: the simulator does not render (graphics memory full, or a wrong driver)"
        )
