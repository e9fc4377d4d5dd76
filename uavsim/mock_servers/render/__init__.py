"""The software renderer: pictures, masks and depth of the world, and rays cast through it."""

from uavsim.mock_servers.render.encode import encode_depth, encode_instance, encode_normal, encode_semantic
from uavsim.mock_servers.render.flow import Before, optical_flow
from uavsim.mock_servers.render.pixel_events import EventPixels, Tuning
from uavsim.mock_servers.render.renderer import Renderer

__all__ = [
    "Before",
    "EventPixels",
    "Renderer",
    "Tuning",
    "encode_depth",
    "encode_instance",
    "encode_normal",
    "encode_semantic",
    "optical_flow",
]
