"""Reading and writing of the nuScenes format: tables, deterministic tokens, layout; dialects strict and uav3d."""

from uavsim.dataset.assemble import AssembledVersion, assemble, versions_of
from uavsim.dataset.fragment import (
    Fragment,
    FragmentHead,
    PackedFragment,
    open_fragment,
    pack_fragment,
    unpack_fragment,
)
from uavsim.dataset.layout import final_paths
from uavsim.dataset.map_mask import draw_map_mask
from uavsim.dataset.strict import scene_fragment
from uavsim.dataset.tokens import token

__all__ = [
    "AssembledVersion",
    "Fragment",
    "FragmentHead",
    "PackedFragment",
    "assemble",
    "draw_map_mask",
    "final_paths",
    "open_fragment",
    "pack_fragment",
    "scene_fragment",
    "token",
    "unpack_fragment",
    "versions_of",
]
