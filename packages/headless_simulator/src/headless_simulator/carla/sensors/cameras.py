"""Cameras: every distinct view of a tick is drawn once and encoded for each camera with that view."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from headless_simulator.carla import wire
from headless_simulator.carla.sensors import gbuffers
from headless_simulator.carla.sensors.exposure import Exposure
from headless_simulator.carla.sensors.moment import Measured, Moment, Reading
from headless_simulator.carla.sensors.palette import CLASS_BGRA
from headless_simulator.carla.sensors.successive import DVS, FLOW, SUCCESSIVE, event_bytes, flow_bytes
from headless_simulator.render import encode_depth, encode_instance, encode_normal, encode_semantic
from headless_simulator.rendering import flat_other, flat_pass, flat_rgb
from headless_simulator.scene import RenderedImage, UInt8, UInt32, View

RGB: Final = "sensor.camera.rgb"
DEPTH: Final = "sensor.camera.depth"
SEMANTIC: Final = "sensor.camera.semantic_segmentation"
INSTANCE: Final = "sensor.camera.instance_segmentation"
NORMALS: Final = "sensor.camera.normals"
COSMOS: Final = "sensor.camera.cosmos_visualization"
IMAGES: Final = frozenset({RGB, DEPTH, SEMANTIC, INSTANCE, NORMALS, COSMOS, FLOW, DVS})
OF_TAGS: Final = frozenset({SEMANTIC, INSTANCE})

_PATCH_PX: Final = 32


def view_of(reading: Reading) -> View:
    """Return a camera's view."""
    attributes = reading.actor.order.attributes
    size = int(attributes["image_size_x"]), int(attributes["image_size_y"])
    return View(reading.pose, *size, float(attributes["fov"]))


def take(view: View, readings: Sequence[Reading], moment: Moment) -> list[Measured]:
    """Draw one view and encode it for its cameras."""
    kinds = {reading.actor.blueprint for reading in readings}
    buffers = {number for reading in readings for number, _ in reading.textures}
    image = moment.renderer.render(
        view,
        moment.movers,
        weather=moment.weather,
        signals=moment.signals,
        time_s=moment.scene_s,
        want_bgra=not kinds.isdisjoint({RGB, DVS}) or gbuffers.COLOUR in buffers,
        want_normal=NORMALS in kinds or gbuffers.NORMAL in buffers,
        want_base=gbuffers.BASE in buffers,
    )
    encoded = {kind: _encode(kind, image, moment.version.mask_ids) for kind in kinds - SUCCESSIVE}
    textures = gbuffers.textures(buffers, image)
    out = []
    for reading in readings:
        kind = reading.actor.blueprint
        if kind == FLOW:
            pixels = flow_bytes(view, reading, image, moment)
        elif kind == DVS:
            assert image.bgra is not None
            pixels = event_bytes(reading, image.bgra, moment)
        else:
            pixels = _exposed(encoded[kind], reading, moment)
        out += _measured(view, reading, pixels)
        out += _buffers(view, reading, textures)
    return out


def take_flat(view: View, readings: Sequence[Reading], moment: Moment) -> list[Measured]:
    """Encode one view without drawing it."""
    out = []
    for reading in readings:
        kind = reading.actor.blueprint
        if kind in (RGB, DVS):
            pixels = flat_rgb(view.width, view.height, camera_id=reading.actor.actor_id, frame=moment.frame)
            if kind == DVS:
                pixels = event_bytes(reading, pixels, moment)
            pixels = _exposed(pixels, reading, moment)
        elif kind == FLOW:
            pixels = np.zeros((view.height, view.width, 8), np.uint8)
        else:
            pixels = flat_other(kind, view.width, view.height)
        out += _measured(view, reading, pixels)
        if reading.textures:
            image = flat_pass(view.width, view.height, camera_id=reading.actor.actor_id, frame=moment.frame)
            out += _buffers(view, reading, gbuffers.textures((number for number, _ in reading.textures), image))
    return out


def _exposed(pixels: UInt8, reading: Reading, moment: Moment) -> UInt8:
    return reading.state.expose(pixels, moment.delta_s) if isinstance(reading.state, Exposure) else pixels


def _measured(view: View, reading: Reading, pixels: UInt8) -> list[Measured]:
    """Prepend the header to the pixels; like CARLA, send nothing for a DVS camera without events."""
    if not pixels.size:
        return []
    head = wire.IMAGE_HEADER.pack(view.width, view.height, view.fov_deg)
    return [Measured(reading, (head, pixels.reshape(-1).data))]


def neon(measured: Measured) -> Measured:
    """Return an RGB image with patches of overflowing or missing channels, as from a GPU with full memory."""
    head, pixels = measured.body
    width, height, _ = wire.IMAGE_HEADER.unpack(head)
    bgra = np.array(np.frombuffer(pixels, np.uint8).reshape(height, width, 4))
    rows, columns = np.arange(height)[:, None] // _PATCH_PX, np.arange(width) // _PATCH_PX
    patch = (3 * rows + 5 * columns) % 8  # a set of channels; 0 and 7 are unchanged
    spoiled = (patch > 0) & (patch < 7)
    bgra[..., :3][spoiled] = 255 * ((patch[spoiled, None] >> np.arange(3)) & 1)
    return replace(measured, body=(head, bgra.reshape(-1).data))


def _buffers(view: View, reading: Reading, textures: Mapping[int, UInt8]) -> list[Measured]:
    """Address each G-buffer of one camera to its readers."""
    return [
        measured
        for number, readers in reading.textures
        for measured in _measured(view, replace(reading, readers=readers), textures[number])
    ]


def _encode(kind: str, image: RenderedImage, mask_ids: Callable[[UInt32], UInt32]) -> UInt8:
    if kind == RGB:
        assert image.bgra is not None
        return image.bgra
    bgra = np.empty((*image.tag.shape, 4), np.uint8)
    if kind == INSTANCE:
        encode_instance(mask_ids(image.ids), image.tag, bgra)
    elif kind == SEMANTIC:
        encode_semantic(image.tag, bgra)
    elif kind == DEPTH:
        encode_depth(image.depth_m, bgra)
    elif kind == COSMOS:
        np.take(CLASS_BGRA, image.tag, axis=0, out=bgra, mode="clip")
    else:
        assert image.normal is not None
        encode_normal(image.normal, bgra)
    return bgra
