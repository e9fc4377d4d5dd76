"""Ways to share: each module turns what the drones see into the ego's features, and counts the bytes that this takes.

``SHARING`` has them by the name that a configuration gives.
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
    "late": lambda _channels, _config: NoSharing(),  # boxes are shared, when they are predicted
    "early": lambda _channels, _config: NoSharing(),  # images are shared, before there are features
    "who2com": Who2com,
    "when2com": When2com,
    "v2vnet": V2VNet,
    "disconet": lambda channels, _config: DiscoNet(channels),
    "where2comm": lambda _channels, config: Where2comm(config),
}


def make_sharing(channels: int, config: SharingConfig) -> Sharing:
    """Return the module of a configuration, for features of so many channels."""
    return SHARING[config.kind](channels, config)
