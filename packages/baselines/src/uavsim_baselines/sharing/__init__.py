"""Sharing methods: each module fuses the drones' features into the ego's, and counts transmitted bytes.

``SHARING`` maps names in configurations to methods.
"""

from collections.abc import Callable
from typing import Final

from uavsim_baselines.config import SharingConfig, SharingKind
from uavsim_baselines.sharing.disconet import DiscoNet
from uavsim_baselines.sharing.handshake import When2com, Who2com
from uavsim_baselines.sharing.messages import Messages, NoSharing, Shared, Sharing
from uavsim_baselines.sharing.v2vnet import V2VNet
from uavsim_baselines.sharing.where2comm import Where2comm

__all__ = ["SHARING", "Messages", "Shared", "Sharing", "make_sharing"]

SHARING: Final[dict[SharingKind, Callable[[int, SharingConfig], Sharing]]] = {
    "none": lambda _channels, _config: NoSharing(),
    "late": lambda _channels, _config: NoSharing(),  # shares boxes, after prediction
    "early": lambda _channels, _config: NoSharing(),  # shares images, before features
    "who2com": Who2com,
    "when2com": When2com,
    "v2vnet": V2VNet,
    "disconet": lambda channels, _config: DiscoNet(channels),
    "where2comm": lambda _channels, config: Where2comm(config),
}


def make_sharing(channels: int, config: SharingConfig) -> Sharing:
    """Return the sharing module of a configuration for a number of channels."""
    return SHARING[config.kind](channels, config)
