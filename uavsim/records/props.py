"""Props of CARLA 0.9.16 for corner cases, by blueprint, with class and half size.

Only props of corner cases have boxes, with classes of nuScenes' movable objects. The sizes are approximations for plans, and
for implausible boxes of the simulator. Meshes are assets of ``static.prop.mesh``, selected by path: CARLA's library lacks
these props, so an Unreal server needs the asset in its content; the headless simulator has all meshes.

Source: CARLA docs, "Blueprint library" and "Catalogue: props", 0.9.16; nuScenes, instructions to annotators.
"""

from typing import Final, Literal, TypeAlias

PropLabel: TypeAlias = Literal["traffic_cone", "barrier", "pushable", "debris"]
Half: TypeAlias = tuple[float, float, float]
PROP_MESH: Final = "static.prop.mesh"
"""CARLA's blueprint of a prop with the path of an asset as mesh."""

PROPS: Final[dict[str, tuple[PropLabel, Half]]] = {
    "static.prop.advertisement": ("debris", (0.12, 0.68, 1.30)),
    "static.prop.atm": ("debris", (0.42, 0.46, 0.98)),
    "static.prop.barbeque": ("pushable", (0.34, 0.62, 0.56)),
    "static.prop.barrel": ("debris", (0.30, 0.30, 0.45)),
    "static.prop.bench01": ("debris", (0.34, 0.76, 0.42)),
    "static.prop.bench03": ("debris", (0.34, 0.90, 0.42)),
    "static.prop.bin": ("pushable", (0.33, 0.33, 0.52)),
    "static.prop.box01": ("debris", (0.34, 0.34, 0.34)),
    "static.prop.box02": ("debris", (0.34, 0.26, 0.27)),
    "static.prop.box03": ("debris", (0.34, 0.22, 0.22)),
    "static.prop.brokentile01": ("debris", (0.10, 0.12, 0.03)),
    "static.prop.brokentile02": ("debris", (0.11, 0.09, 0.03)),
    "static.prop.chainbarrier": ("barrier", (0.09, 0.80, 0.48)),
    "static.prop.clothcontainer": ("debris", (0.63, 0.61, 1.00)),
    "static.prop.constructioncone": ("traffic_cone", (0.17, 0.17, 0.30)),
    "static.prop.container": ("pushable", (0.95, 0.54, 0.62)),
    "static.prop.creasedbox01": ("debris", (0.36, 0.34, 0.28)),
    "static.prop.creasedbox02": ("debris", (0.34, 0.30, 0.25)),
    "static.prop.creasedbox03": ("debris", (0.34, 0.28, 0.22)),
    "static.prop.dirtdebris01": ("debris", (0.80, 0.80, 0.10)),
    "static.prop.dirtdebris02": ("debris", (0.60, 0.70, 0.08)),
    "static.prop.dirtdebris03": ("debris", (0.70, 0.60, 0.08)),
    "static.prop.doghouse": ("debris", (0.60, 0.48, 0.50)),
    "static.prop.foodcart": ("pushable", (0.78, 1.50, 1.30)),
    "static.prop.garbage01": ("debris", (0.30, 0.30, 0.06)),
    "static.prop.glasscontainer": ("debris", (0.80, 0.80, 0.86)),
    "static.prop.gnome": ("debris", (0.22, 0.22, 0.44)),
    "static.prop.guitarcase": ("debris", (0.20, 0.52, 0.09)),
    "static.prop.haybale": ("debris", (0.60, 0.60, 0.60)),
    "static.prop.haybalelb": ("debris", (0.60, 0.60, 0.60)),
    "static.prop.ironplank": ("debris", (0.80, 0.60, 0.03)),
    "static.prop.mailbox": ("debris", (0.26, 0.32, 0.60)),
    "static.prop.plantpot03": ("debris", (0.36, 0.36, 0.50)),
    "static.prop.plantpot04": ("debris", (0.50, 0.50, 0.62)),
    "static.prop.plasticbag": ("debris", (0.18, 0.20, 0.18)),
    "static.prop.plasticchair": ("debris", (0.30, 0.30, 0.44)),
    "static.prop.plastictable": ("debris", (0.56, 0.56, 0.36)),
    "static.prop.platformgarbage01": ("debris", (1.20, 1.80, 0.14)),
    "static.prop.shoppingcart": ("pushable", (0.62, 0.34, 0.54)),
    "static.prop.shoppingtrolley": ("pushable", (0.30, 0.26, 0.50)),
    "static.prop.streetbarrier": ("barrier", (0.18, 0.61, 0.54)),
    "static.prop.swingcouch": ("debris", (0.70, 1.10, 0.95)),
    "static.prop.table": ("debris", (0.60, 0.60, 0.38)),
    "static.prop.trafficcone01": ("traffic_cone", (0.17, 0.17, 0.29)),
    "static.prop.trafficcone02": ("traffic_cone", (0.20, 0.20, 0.35)),
    "static.prop.trafficwarning": ("debris", (0.55, 1.18, 1.42)),
    "static.prop.trampoline": ("debris", (1.60, 1.60, 0.45)),
    "static.prop.trashbag": ("debris", (0.31, 0.31, 0.33)),
    "static.prop.trashcan01": ("pushable", (0.32, 0.32, 0.50)),
    "static.prop.trashcan03": ("pushable", (0.36, 0.32, 0.52)),
    "static.prop.trashcan04": ("pushable", (0.34, 0.30, 0.50)),
    "static.prop.travelcase": ("debris", (0.15, 0.22, 0.36)),
    "static.prop.vendingmachine": ("debris", (0.42, 0.50, 0.96)),
    "static.prop.warningaccident": ("debris", (0.22, 0.42, 0.62)),
    "static.prop.warningconstruction": ("debris", (0.22, 0.42, 0.62)),
}

MESHES: Final[dict[str, Half]] = {
    "bicycle": (0.90, 0.30, 0.52),
    "ladder": (1.60, 0.22, 0.05),
    "open_manhole": (0.85, 0.40, 0.04),
    "tangled_wire": (0.75, 0.65, 0.22),
    "tree_branch": (1.60, 0.55, 0.30),
    "tyre": (0.33, 0.33, 0.11),
}
"""Half sizes by the last part of the asset's path: ``/Game/Uavsim/open_manhole.open_manhole``."""
