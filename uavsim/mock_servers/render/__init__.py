"""The software renderer: pictures, masks and depth of the world, and rays cast through it."""

from uavsim.mock_servers.render.encode import encode_depth, encode_instance, encode_normal, encode_semantic
from uavsim.mock_servers.render.renderer import Renderer

__all__ = ["Renderer", "encode_depth", "encode_instance", "encode_normal", "encode_semantic"]
