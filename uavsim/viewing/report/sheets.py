"""Images of the report: contact sheets of samples, large views, thumbnails of findings."""

import base64
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.access import Dataset, Image, Sample
from uavsim.access.contact_sheet import richest_image, with_boxes
from uavsim.errors import DatasetError
from uavsim.images import draw, overlay
from uavsim.records.channels import channel_without_kind
from uavsim.typing import UInt8Array
from uavsim.validate import Report
from uavsim.validate.findings import Finding

_TILE_PX: Final = 256
_THUMBNAIL_PX: Final = 320
_QUALITY: Final = 72
_LARGE_PX: Final = 960
_MISSING: Final = (60, 60, 60)
_MASK_BACKGROUND: Final = (24, 24, 24)


@dataclass(frozen=True, slots=True)
class Jpeg:
    """An image of the page: data URI, size and alternative text."""

    source: str
    width_px: int
    height_px: int
    text: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A contact sheet of all cameras of one sample."""

    scene: str
    sample: int
    jpeg: Jpeg


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """The image of a finding."""

    code: str
    location: str
    message: str
    jpeg: Jpeg


def contact_sheets(data: Dataset, *, most: int) -> list[Sheet]:
    """Return contact sheets of the middle samples of at most ``most`` scenes; missing images are grey."""
    names = data.scene_names
    chosen = dict.fromkeys(names[round(k)] for k in np.linspace(0, len(names) - 1, min(most, len(names))))
    sheets = []
    for name in chosen:
        scene = data.scene(name)
        if not scene.samples or not any(image.exists for image in scene.samples[len(scene) // 2].images):
            continue
        sample = scene.samples[len(scene) // 2]
        page = _sheet(sample)
        text = (
            f"{len(sample.images)} images of {len(sample.drone_ids())} drones at sample {sample.number} of scene {name} in "
            f"{scene.town or 'an unnamed town'}, with the boxes that each camera sees"
        )
        sheets.append(Sheet(name, sample.number, _jpeg(page, text, width_px=page.shape[1])))
    return sheets


def large_views(data: Dataset) -> list[Jpeg]:
    """Return the image with the most objects in the middle of the first scene, with boxes, and its mask."""
    scene = data.scene(data.scene_names[0])
    if not scene.samples:
        return []
    sample = scene.samples[len(scene) // 2]
    try:
        image = richest_image(sample)
        title = f"{image.channel} of {scene.name}, sample {sample.number}"
        views = [(with_boxes(sample, image), f"{title}, with its boxes")]
        if "instance" in image.layers:
            mask = overlay.painted_mask(image.mask()[0], ground=_MASK_BACKGROUND)
            views.append((mask, f"Instance mask of {title}: a colour for each object, that of its box"))
    except DatasetError:  # a missing or damaged image
        return []
    return [_jpeg(pixels, text, width_px=_LARGE_PX) for pixels, text in views]


def thumbnails(data: Dataset, report: Report, *, most: int) -> list[Thumbnail]:
    """Return images of findings that name a sample and a channel: the first of each code, then further ones."""
    of_image = [f for f in report.findings if f.scene and f.sample and f.channel]
    first: dict[str, Finding] = {}
    for finding in of_image:
        first.setdefault(finding.code, finding)
    chosen = [*first.values(), *(f for f in of_image if f not in first.values())][:most]
    found = []
    for finding in sorted(chosen, key=lambda f: f.scene):
        image = _image_of(data, finding.scene, finding.sample, finding.channel)
        if image is None or not image.exists:
            continue
        try:
            text = f"Image of {image.channel} in {finding.scene}, which {finding.code} names"
            jpeg = _jpeg(image.pixels(), text, width_px=_THUMBNAIL_PX)
        except DatasetError:
            continue  # the finding itself is listed elsewhere
        found.append(Thumbnail(finding.code, finding.place_text, finding.message, jpeg))
    return found


def _image_of(data: Dataset, scene: str, token: str, channel: str) -> Image | None:
    if scene not in data.scene_names:
        return None
    images = (i for s in data.scene(scene) if s.token == token for i in s.images)
    return next((image for image in images if image.channel == channel), None)


def _sheet(sample: Sample) -> UInt8Array:
    drones = sample.drone_ids().tolist()
    columns = max(-(-len(sample.images) // max(len(drones), 1)), 1)
    by_drone = sorted(sample.images, key=lambda image: image.drone_id)
    tiles = [_tile(image, sample) for image in by_drone]
    captions = [channel_without_kind(image.channel) for image in by_drone]
    return draw.contact_sheet(tiles, columns=columns, tile_width_px=_TILE_PX, captions=captions)


def _tile(image: Image, sample: Sample) -> UInt8Array:
    try:
        return with_boxes(sample, image)
    except DatasetError:  # missing or damaged; the validator reports it
        width, height = image.size_px
        return np.full((height, width, 3), _MISSING, dtype=np.uint8)


def _jpeg(pixels: UInt8Array, text: str, *, width_px: int) -> Jpeg:
    data = overlay.small_jpeg(pixels, width_px=width_px, quality=_QUALITY)
    scale = min(width_px / pixels.shape[1], 1.0)
    height_px, width_px = (round(side * scale) for side in pixels.shape[:2])
    return Jpeg("data:image/jpeg;base64," + base64.b64encode(data).decode("ascii"), width_px, height_px, text)
