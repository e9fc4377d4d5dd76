"""The common part of blocks of agents on the ground."""

from typing import ClassVar

from uavsim.config.base import Model, Reference
from uavsim.config.rig import Pixels


class OnGround(Model):
    """Agents that carry a rig."""

    key: ClassVar[str]

    rig: Reference
    image_px: tuple[Pixels, Pixels] | None = None
    """Width and height of every camera's images, instead of the rig's."""
