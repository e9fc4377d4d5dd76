"""The software renderer: images, masks, depth and ray casting."""

from headless_simulator.render.encode import encode_depth, encode_instance, encode_normal, encode_semantic
from headless_simulator.render.flow import Before, optical_flow
from headless_simulator.render.late import LateRenderer
from headless_simulator.render.pixel_events import EventPixels, Tuning
from headless_simulator.render.renderer import Renderer

__all__ = [
    "Before",
    "EventPixels",
    "LateRenderer",
    "Renderer",
    "Tuning",
    "encode_depth",
    "encode_instance",
    "encode_normal",
    "encode_semantic",
    "optical_flow",
]
