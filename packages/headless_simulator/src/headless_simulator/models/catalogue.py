"""Every blueprint with a body: its properties in the servers' answers and its shape for the model builder.

Ids are those of CARLA 0.9.16's blueprint library. Sizes are close to the real assets', not equal to them; the boxes of
two-wheelers include the rider, so that a box holds every pixel of its instance.
"""

from dataclasses import dataclass
from typing import Final

RGB = tuple[int, int, int]
Vector = tuple[float, float, float]

WHITE, SILVER, GREY, BLACK = (236, 237, 238), (168, 171, 176), (92, 96, 101), (21, 22, 25)
RED, WINE, BLUE, NAVY = (164, 24, 28), (96, 14, 26), (31, 74, 150), (17, 37, 103)
GREEN, FOREST, YELLOW, ORANGE = (58, 110, 72), (28, 62, 46), (221, 176, 32), (206, 98, 28)
BEIGE, BROWN, SKY = (196, 184, 158), (84, 62, 46), (98, 152, 190)
COMMON: Final = (WHITE, BLACK, SILVER, GREY, RED, NAVY)


@dataclass(frozen=True, slots=True)
class VehicleSpec:
    """One vehicle blueprint.

    Attributes:
        blueprint: ``vehicle.tesla.model3``.
        base_type: car, truck, van, bus, motorcycle or bicycle.
        special_type: emergency, taxi, electric or "".
        generation: 1 or 2.
        wheels: number of wheels.
        half_extent_m: half length, width and height of the bounding box.
        box_offset_m: box centre in the actor's frame (origin on the ground, between the wheels).
        mass_kg: mass of the physics.
        colours: recommended body colours; the first is the default.
        has_lights: whether the lamps work.
        has_doors: whether its side doors open.
        shape: shape of the model builder.
        tag: semantic tag of the body.
    """

    blueprint: str
    base_type: str
    special_type: str
    generation: int
    wheels: int
    half_extent_m: Vector
    box_offset_m: Vector
    mass_kg: float
    colours: tuple[RGB, ...]
    has_lights: bool
    shape: str
    tag: int
    has_doors: bool = False


@dataclass(frozen=True, slots=True)
class WalkerSpec:
    """One pedestrian blueprint; its origin is the body's centre.

    Attributes:
        blueprint: ``walker.pedestrian.0001``.
        age: adult, child or senior.
        gender: female, male or other.
        generation: 1 or 2.
        half_extent_m: half depth, width and height of the bounding box.
        top: colour of the upper garment.
        bottom: colour of the lower garment.
        skin: colour of face and hands.
        hair: colour of the hair.
    """

    blueprint: str
    age: str
    gender: str
    generation: int
    half_extent_m: Vector
    top: RGB
    bottom: RGB
    skin: RGB
    hair: RGB


@dataclass(frozen=True, slots=True)
class PropSpec:
    """One prop blueprint; its origin is the centre of its bottom.

    Attributes:
        blueprint: ``static.prop.trafficcone01``.
        half_extent_m: half size of the bounding box.
        shape: shape of the model builder.
        colour: main colour.
        accent: second colour.
        tag: semantic tag.
    """

    blueprint: str
    half_extent_m: Vector
    shape: str
    colour: RGB
    accent: RGB
    tag: int


_WITH_DOORS: Final = frozenset({
    "dodge.charger_2020", "dodge.charger_police_2020", "ford.crown", "ford.ambulance", "lincoln.mkz_2020",
    "mercedes.coupe_2020", "mercedes.sprinter", "mini.cooper_s_2021", "nissan.patrol_2021", "carlamotors.firetruck",
})  # fmt: skip
_SECOND_GENERATION: Final = frozenset({
    "dodge.charger_2020", "dodge.charger_police_2020", "ford.crown", "lincoln.mkz_2020", "mercedes.coupe_2020",
    "mini.cooper_s_2021", "nissan.patrol_2021", "carlamotors.european_hgv", "carlamotors.firetruck",
    "tesla.cybertruck", "ford.ambulance", "mercedes.sprinter", "volkswagen.t2_2021", "mitsubishi.fusorosa",
})  # fmt: skip
_SPECIAL_TYPE: Final = {
    **dict.fromkeys(("audi.etron", "micro.microlino", "tesla.model3", "tesla.cybertruck"), "electric"),
    **dict.fromkeys(
        ("dodge.charger_police", "dodge.charger_police_2020", "carlamotors.firetruck", "ford.ambulance"), "emergency"
    ),
    **dict.fromkeys(("ford.crown",), "taxi"),
}
_TAG_OF: Final = {"car": 14, "van": 14, "truck": 15, "bus": 16, "motorcycle": 18, "bicycle": 19}


def _vehicle(
    name: str, base_type: str, shape: str, half_extent_m: Vector, mass_kg: float, *colours: RGB, forward_m: float = 0.0
) -> VehicleSpec:
    return VehicleSpec(
        blueprint=f"vehicle.{name}",
        base_type=base_type,
        special_type=_SPECIAL_TYPE.get(name, ""),
        generation=2 if name in _SECOND_GENERATION else 1,
        wheels=2 if base_type in ("motorcycle", "bicycle") else 6 if shape == "hgv" else 4,
        half_extent_m=half_extent_m,
        box_offset_m=(forward_m, 0.0, half_extent_m[2]),
        mass_kg=mass_kg,
        colours=colours or COMMON,
        has_lights=base_type != "bicycle",
        shape=shape,
        tag=_TAG_OF[base_type],
        has_doors=name in _WITH_DOORS,
    )


_VEHICLES: Final = (
    _vehicle("audi.a2", "car", "hatch", (1.853, 0.894, 0.775), 1100, SILVER, BLUE, RED, BLACK, forward_m=0.02),
    _vehicle("audi.etron", "car", "suv", (2.428, 1.016, 0.825), 2490, GREY, WHITE, NAVY, forward_m=0.03),
    _vehicle("audi.tt", "car", "coupe", (2.091, 0.997, 0.693), 1400, RED, SILVER, BLACK, WHITE),
    _vehicle("bmw.grandtourer", "car", "suv", (2.306, 1.121, 0.834), 1600, BROWN, WHITE, NAVY, SILVER, forward_m=0.02),
    _vehicle(
        "chevrolet.impala", "car", "sedan", (2.679, 1.017, 0.705), 1750, NAVY, BEIGE, WINE, GREEN, forward_m=-0.02
    ),
    _vehicle("citroen.c3", "car", "hatch", (1.994, 0.925, 0.809), 1150, SKY, RED, WHITE, GREY),
    _vehicle("dodge.charger_2020", "car", "sedan", (2.503, 1.049, 0.767), 1920, ORANGE, BLACK, WHITE, RED),
    _vehicle("dodge.charger_police", "car", "police", (2.487, 1.019, 0.771), 1900, BLACK),
    _vehicle("dodge.charger_police_2020", "car", "police", (2.619, 1.049, 0.819), 1950, BLACK),
    _vehicle("ford.crown", "car", "taxi", (2.683, 0.900, 0.787), 1900, YELLOW),
    _vehicle("ford.mustang", "car", "coupe", (2.359, 0.947, 0.650), 1500, RED, NAVY, BLACK, YELLOW),
    _vehicle("jeep.wrangler_rubicon", "car", "jeep", (1.933, 0.953, 0.939), 1900, FOREST, BLACK, ORANGE, BEIGE),
    _vehicle("lincoln.mkz_2017", "car", "sedan", (2.451, 1.064, 0.755), 1680, GREY, WHITE, BLACK, WINE, forward_m=0.04),
    _vehicle("lincoln.mkz_2020", "car", "sedan", (2.446, 0.918, 0.745), 1680, WINE, WHITE, BLACK, SILVER),
    _vehicle("mercedes.coupe", "car", "coupe", (2.513, 1.076, 0.825), 1700, SILVER, BLACK, RED, WHITE),
    _vehicle("mercedes.coupe_2020", "car", "coupe", (2.337, 1.001, 0.721), 1700, BLACK, SILVER, NAVY),
    _vehicle("micro.microlino", "car", "micro", (1.104, 0.740, 0.688), 540, SKY, WHITE, RED),
    _vehicle("mini.cooper_s", "car", "hatch", (1.903, 0.985, 0.738), 1200, RED, BLUE, GREEN, WHITE),
    _vehicle("mini.cooper_s_2021", "car", "hatch", (2.276, 1.049, 0.884), 1300, BLUE, RED, WHITE, YELLOW),
    _vehicle("nissan.micra", "car", "hatch", (1.817, 0.923, 0.751), 1000, BEIGE, RED, SKY, SILVER),
    _vehicle("nissan.patrol", "car", "suv", (2.302, 0.966, 0.927), 2250, WHITE, BEIGE, BLACK, FOREST),
    _vehicle("nissan.patrol_2021", "car", "suv", (2.783, 1.083, 1.022), 2700, BROWN, WHITE, BLACK, SILVER),
    _vehicle("seat.leon", "car", "hatch", (2.096, 0.908, 0.737), 1250, RED, WHITE, BLUE, GREY),
    _vehicle("tesla.model3", "car", "sedan", (2.396, 1.082, 0.744), 1845, RED, WHITE, BLACK, BLUE),
    _vehicle("toyota.prius", "car", "hatch", (2.257, 1.003, 0.762), 1380, SILVER, WHITE, NAVY, RED, forward_m=-0.03),
    _vehicle("carlamotors.carlacola", "truck", "box_truck", (2.602, 1.308, 1.234), 5500, RED),
    _vehicle("carlamotors.european_hgv", "truck", "hgv", (3.967, 1.447, 1.732), 9000, WHITE, BLUE, RED),
    _vehicle("carlamotors.firetruck", "truck", "fire", (4.234, 1.446, 1.914), 14000, RED, forward_m=0.05),
    _vehicle("tesla.cybertruck", "truck", "cyber", (3.137, 1.195, 1.049), 3000, SILVER),
    _vehicle("ford.ambulance", "van", "ambulance", (3.183, 1.176, 1.216), 4500, WHITE),
    _vehicle("mercedes.sprinter", "van", "van", (2.958, 0.994, 1.280), 2800, WHITE, SILVER, BLACK, BLUE),
    _vehicle("volkswagen.t2", "van", "camper", (2.240, 1.035, 1.019), 1500, ORANGE, SKY, GREEN, BEIGE),
    _vehicle("volkswagen.t2_2021", "van", "camper", (2.221, 0.889, 0.994), 1500, SKY, ORANGE, RED, BEIGE),
    _vehicle("mitsubishi.fusorosa", "bus", "bus", (5.136, 1.320, 1.560), 8500, WHITE, YELLOW, BLUE),
    _vehicle("harley-davidson.low_rider", "motorcycle", "cruiser", (1.178, 0.382, 0.790), 300, BLACK, WINE, BLUE),
    _vehicle("kawasaki.ninja", "motorcycle", "sport", (1.017, 0.434, 0.763), 220, GREEN, BLACK, RED),
    _vehicle("vespa.zx125", "motorcycle", "scooter", (0.902, 0.360, 0.800), 130, SKY, RED, BEIGE),
    _vehicle("yamaha.yzf", "motorcycle", "sport", (1.105, 0.433, 0.770), 200, BLUE, WHITE, BLACK),
    _vehicle("bh.crossbike", "bicycle", "bicycle", (0.744, 0.330, 0.860), 85, BLACK, RED, BLUE),
    _vehicle("diamondback.century", "bicycle", "bicycle", (0.821, 0.260, 0.850), 82, RED, WHITE, GREY),
    _vehicle("gazelle.omafiets", "bicycle", "bicycle", (0.921, 0.326, 0.890), 90, GREEN, BLACK, BEIGE),
)

VEHICLES: Final[dict[str, VehicleSpec]] = {spec.blueprint: spec for spec in _VEHICLES}

_CHILDREN: Final = frozenset({9, 10, 11, 12, 13, 14, 48, 49})
_SENIORS: Final = frozenset({20, 23, 24, 30, 33, 45})
_TOPS: Final = (NAVY, RED, WHITE, GREEN, GREY, YELLOW, BLACK, SKY, WINE, BEIGE, ORANGE)
_BOTTOMS: Final = ((38, 44, 66), BLACK, (70, 74, 82), BEIGE, (52, 60, 84), BROWN, (30, 32, 36))
_SKINS: Final = ((224, 178, 148), (188, 136, 104), (142, 94, 66), (96, 62, 44), (236, 196, 168))
_HAIRS: Final = ((42, 30, 22), (22, 18, 16), (112, 78, 44), (150, 150, 150), (176, 140, 84))
_GENERATION_2: Final = frozenset(range(15, 52))


def _walker(number: int) -> WalkerSpec:
    child, senior = number in _CHILDREN, number in _SENIORS
    height_m = 1.24 + 0.03 * (number % 5) if child else 1.66 + 0.035 * (number % 7) - 0.05 * senior
    scale = height_m / 1.76
    return WalkerSpec(
        blueprint=f"walker.pedestrian.{number:04d}",
        age="child" if child else "senior" if senior else "adult",
        gender=("female", "male")[number % 2],
        generation=2 if number in _GENERATION_2 else 1,
        half_extent_m=(round(0.30 * scale, 3), round(0.27 * scale, 3), round(height_m / 2, 3)),
        top=_TOPS[number * 7 % len(_TOPS)],
        bottom=_BOTTOMS[number * 5 % len(_BOTTOMS)],
        skin=_SKINS[number * 3 % len(_SKINS)],
        hair=_HAIRS[3] if senior else _HAIRS[number % len(_HAIRS)],
    )


WALKERS: Final[dict[str, WalkerSpec]] = {spec.blueprint: spec for spec in map(_walker, range(1, 52))}

_STATIC, DYNAMIC, _SIGN, _VEGETATION = 20, 21, 8, 9
_WOOD, _STEEL, _CARD, _PLASTIC = (128, 92, 58), (120, 124, 128), (178, 138, 92), (48, 84, 56)


def _prop(name: str, shape: str, half_extent_m: Vector, colour: RGB, accent: RGB, *, tag: int = _STATIC) -> PropSpec:
    return PropSpec(f"static.prop.{name}", half_extent_m, shape, colour, accent, tag)


_PROPS: Final = (
    _prop("trafficcone01", "cone", (0.17, 0.17, 0.29), ORANGE, WHITE, tag=DYNAMIC),
    _prop("trafficcone02", "cone", (0.20, 0.20, 0.35), ORANGE, WHITE, tag=DYNAMIC),
    _prop("constructioncone", "cone", (0.17, 0.17, 0.30), ORANGE, BLACK, tag=DYNAMIC),
    _prop("streetbarrier", "barrier", (0.18, 0.61, 0.54), ORANGE, WHITE, tag=DYNAMIC),
    _prop("chainbarrier", "barrier", (0.09, 0.80, 0.48), _STEEL, BLACK),
    _prop("chainbarrierend", "barrel", (0.09, 0.09, 0.48), _STEEL, BLACK),
    _prop("warningconstruction", "sign", (0.22, 0.42, 0.62), YELLOW, BLACK, tag=_SIGN),
    _prop("warningaccident", "sign", (0.22, 0.42, 0.62), RED, WHITE, tag=_SIGN),
    _prop("trafficwarning", "sign", (0.55, 1.18, 1.42), ORANGE, BLACK, tag=_SIGN),
    _prop("streetsign", "sign", (0.10, 0.42, 1.30), GREEN, WHITE, tag=_SIGN),
    _prop("streetsign01", "sign", (0.10, 0.42, 1.30), BLUE, WHITE, tag=_SIGN),
    _prop("streetsign04", "sign", (0.10, 0.42, 1.30), WHITE, RED, tag=_SIGN),
    _prop("barrel", "barrel", (0.30, 0.30, 0.45), BLUE, _STEEL, tag=DYNAMIC),
    _prop("box01", "carton", (0.34, 0.34, 0.34), _CARD, _CARD, tag=DYNAMIC),
    _prop("box02", "carton", (0.34, 0.26, 0.27), _CARD, _CARD, tag=DYNAMIC),
    _prop("box03", "carton", (0.34, 0.22, 0.22), _CARD, _CARD, tag=DYNAMIC),
    _prop("creasedbox01", "carton", (0.36, 0.34, 0.28), _CARD, _CARD, tag=DYNAMIC),
    _prop("creasedbox02", "carton", (0.34, 0.30, 0.25), _CARD, _CARD, tag=DYNAMIC),
    _prop("creasedbox03", "carton", (0.34, 0.28, 0.22), _CARD, _CARD, tag=DYNAMIC),
    _prop("briefcase", "box", (0.12, 0.30, 0.22), BLACK, BROWN, tag=DYNAMIC),
    _prop("guitarcase", "box", (0.20, 0.52, 0.09), BLACK, BROWN, tag=DYNAMIC),
    _prop("travelcase", "suitcase", (0.15, 0.22, 0.36), (176, 52, 38), (238, 206, 150), tag=DYNAMIC),
    _prop("plasticbag", "bag", (0.18, 0.20, 0.18), WHITE, SILVER, tag=DYNAMIC),
    _prop("trashbag", "bag", (0.31, 0.31, 0.33), BLACK, BLACK, tag=DYNAMIC),
    _prop("garbage01", "box", (0.30, 0.30, 0.06), GREY, WHITE, tag=DYNAMIC),
    _prop("garbage02", "box", (0.07, 0.07, 0.05), WHITE, RED, tag=DYNAMIC),
    _prop("garbage03", "box", (0.08, 0.06, 0.06), _CARD, WHITE, tag=DYNAMIC),
    _prop("garbage04", "box", (0.09, 0.07, 0.05), BLUE, WHITE, tag=DYNAMIC),
    _prop("garbage05", "box", (0.26, 0.26, 0.06), _CARD, GREY, tag=DYNAMIC),
    _prop("garbage06", "box", (0.22, 0.20, 0.07), WHITE, GREY, tag=DYNAMIC),
    _prop("colacan", "barrel", (0.04, 0.04, 0.06), RED, SILVER, tag=DYNAMIC),
    _prop("shoppingbag", "box", (0.13, 0.24, 0.24), WHITE, RED, tag=DYNAMIC),
    _prop("brokentile01", "box", (0.10, 0.12, 0.03), GREY, GREY),
    _prop("brokentile02", "box", (0.11, 0.09, 0.03), GREY, GREY),
    _prop("brokentile03", "box", (0.08, 0.10, 0.03), GREY, GREY),
    _prop("brokentile04", "box", (0.12, 0.10, 0.03), GREY, GREY),
    _prop("dirtdebris03", "heap", (0.70, 0.60, 0.08), BROWN, GREY),
    _prop("dirtdebris01", "heap", (0.80, 0.80, 0.10), BROWN, GREY),
    _prop("dirtdebris02", "heap", (0.60, 0.70, 0.08), BROWN, GREY),
    _prop("ironplank", "box", (0.80, 0.60, 0.03), _STEEL, _STEEL),
    _prop("trashcan01", "barrel", (0.32, 0.32, 0.50), _PLASTIC, BLACK, tag=DYNAMIC),
    _prop("trashcan02", "barrel", (0.28, 0.28, 0.45), GREY, BLACK, tag=DYNAMIC),
    _prop("trashcan03", "dustbin", (0.36, 0.32, 0.52), _PLASTIC, (232, 190, 40), tag=DYNAMIC),
    _prop("trashcan04", "dustbin", (0.34, 0.30, 0.50), BLUE, (206, 210, 214), tag=DYNAMIC),
    _prop("trashcan05", "barrel", (0.30, 0.30, 0.48), _STEEL, BLACK, tag=DYNAMIC),
    _prop("bin", "dustbin", (0.33, 0.33, 0.52), GREEN, BLACK, tag=DYNAMIC),
    _prop("container", "box", (0.95, 0.54, 0.62), _PLASTIC, BLACK),
    _prop("clothcontainer", "box", (0.63, 0.61, 1.00), YELLOW, GREY),
    _prop("glasscontainer", "barrel", (0.80, 0.80, 0.86), GREEN, WHITE),
    _prop("mailbox", "box", (0.26, 0.32, 0.60), BLUE, WHITE),
    _prop("vendingmachine", "vending", (0.42, 0.50, 0.96), RED, WHITE),
    _prop("atm", "box", (0.42, 0.46, 0.98), BLUE, WHITE),
    _prop("advertisement", "sign", (0.12, 0.68, 1.30), SKY, WHITE, tag=_SIGN),
    _prop("streetfountain", "barrel", (0.40, 0.40, 0.52), _STEEL, SKY),
    _prop("fountain", "barrel", (2.90, 2.90, 1.40), BEIGE, SKY),
    _prop("bench01", "bench", (0.34, 0.76, 0.42), _WOOD, BLACK),
    _prop("bench02", "bench", (0.34, 0.76, 0.24), _WOOD, GREY),
    _prop("bench03", "bench", (0.34, 0.90, 0.42), GREY, BLACK),
    _prop("table", "table", (0.60, 0.60, 0.38), _WOOD, GREY),
    _prop("plastictable", "table", (0.56, 0.56, 0.36), WHITE, WHITE, tag=DYNAMIC),
    _prop("plasticchair", "chair", (0.30, 0.30, 0.44), WHITE, WHITE, tag=DYNAMIC),
    _prop("maptable", "table", (0.62, 0.50, 0.42), _STEEL, BLUE),
    _prop("shoppingcart", "trolley", (0.62, 0.34, 0.54), _STEEL, RED, tag=DYNAMIC),
    _prop("shoppingtrolley", "cart", (0.30, 0.26, 0.50), NAVY, BLACK, tag=DYNAMIC),
    _prop("wheelbarrow", "cart", (0.72, 0.34, 0.36), GREEN, BLACK, tag=DYNAMIC),
    _prop("busstop", "shelter", (0.98, 2.05, 1.30), GREY, SKY),
    _prop("busstoplb", "shelter", (0.98, 2.05, 1.30), GREY, SKY),
    _prop("kiosk_01", "box", (1.40, 1.40, 1.45), FOREST, BEIGE),
    _prop("foodcart", "stall", (0.78, 1.50, 1.30), RED, WHITE),
    _prop("pergola", "shelter", (1.60, 1.60, 1.20), _WOOD, _WOOD),
    _prop("swing", "shelter", (1.20, 1.60, 1.15), RED, YELLOW),
    _prop("swingcouch", "shelter", (0.70, 1.10, 0.95), BEIGE, GREEN),
    _prop("trampoline", "barrel", (1.60, 1.60, 0.45), BLUE, BLACK),
    _prop("clothesline", "barrier", (0.60, 1.10, 0.85), _STEEL, WHITE),
    _prop("wateringcan", "barrel", (0.14, 0.20, 0.17), GREEN, GREEN, tag=DYNAMIC),
    _prop("haybale", "barrel", (0.60, 0.60, 0.60), YELLOW, BEIGE),
    _prop("haybalelb", "bale", (0.60, 0.60, 0.60), YELLOW, BEIGE),
    _prop("calibrator", "sign", (0.05, 0.60, 0.60), WHITE, BLACK),
    _prop("slide", "box", (1.80, 0.42, 1.00), YELLOW, BLUE),
    _prop("plantpot01", "plant", (0.55, 0.55, 0.42), (150, 96, 66), GREEN),
    _prop("plantpot02", "plant", (0.42, 0.42, 0.44), GREY, GREEN),
    _prop("plantpot03", "plant", (0.36, 0.36, 0.50), BEIGE, GREEN),
    _prop("plantpot04", "plant", (0.50, 0.50, 0.62), (150, 96, 66), FOREST),
    _prop("plantpot05", "plant", (0.34, 0.34, 0.40), GREY, FOREST),
    _prop("plantpot06", "plant", (1.10, 0.44, 0.42), GREY, GREEN),
    _prop("plantpot07", "plant", (0.40, 0.40, 0.44), WHITE, GREEN),
    _prop("plantpot08", "plant", (0.46, 0.46, 0.60), GREY, FOREST),
    _prop("bush01", "plant", (0.70, 0.70, 0.55), FOREST, FOREST, tag=_VEGETATION),
    _prop("bush02", "plant", (0.60, 0.60, 0.45), GREEN, FOREST, tag=_VEGETATION),
    _prop("bikeparking", "barrier", (0.36, 0.88, 0.42), _STEEL, _STEEL),
    _prop("bike helmet", "barrel", (0.14, 0.12, 0.09), RED, BLACK, tag=DYNAMIC),
    _prop("motorhelmet", "barrel", (0.15, 0.15, 0.14), BLACK, SILVER, tag=DYNAMIC),
    _prop("mobile", "box", (0.08, 0.04, 0.01), BLACK, BLACK, tag=DYNAMIC),
    _prop("purse", "box", (0.08, 0.18, 0.14), BROWN, BLACK, tag=DYNAMIC),
    _prop("gnome", "barrel", (0.22, 0.22, 0.44), RED, BLUE, tag=DYNAMIC),
    _prop("barbeque", "cart", (0.34, 0.62, 0.56), BLACK, _STEEL, tag=DYNAMIC),
    _prop("gardenlamp", "barrel", (0.10, 0.10, 0.36), BLACK, YELLOW),
    _prop("doghouse", "box", (0.60, 0.48, 0.50), _WOOD, RED),
    _prop("platformgarbage01", "heap", (1.20, 1.80, 0.14), GREY, BROWN),
)

PROPS: Final[dict[str, PropSpec]] = {spec.blueprint: spec for spec in _PROPS}

OTHERS: Final[dict[str, PropSpec]] = {
    "drone.quadrotor": PropSpec("drone.quadrotor", (0.45, 0.45, 0.14), "drone", (46, 48, 52), ORANGE, DYNAMIC),
}
"""Bodies without a CARLA blueprint: a drone, visible to other drones' cameras."""

MESH_PROP: Final = "static.prop.mesh"
MESHES: Final[dict[str, PropSpec]] = {
    f"mesh.{shape}": PropSpec(f"mesh.{shape}", half_extent_m, drawn, colour, accent, DYNAMIC)
    for shape, drawn, half_extent_m, colour, accent in (
        ("bicycle", "bicycle", (0.90, 0.30, 0.52), RED, BLACK),
        ("ladder", "ladder", (1.60, 0.22, 0.05), SILVER, GREY),
        ("open_manhole", "manhole", (0.85, 0.40, 0.04), GREY, BLACK),
        ("tangled_wire", "wire", (0.75, 0.65, 0.22), BLACK, ORANGE),
        ("tree_branch", "branch", (1.60, 0.55, 0.30), BROWN, GREEN),
        ("tyre", "tyre", (0.33, 0.33, 0.11), (20, 20, 22), BLACK),
    )
}
"""Shapes of ``static.prop.mesh`` by the last word of the asset path; other paths show nothing."""
