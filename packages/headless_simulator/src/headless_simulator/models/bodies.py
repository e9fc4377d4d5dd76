"""Four-wheeled bodies. Every builder draws in fractions of the box: x in -1..1 of half length, and so on."""

from collections.abc import Callable, Sequence
from typing import Final

from headless_simulator.models.catalogue import VehicleSpec
from headless_simulator.models.mesh_builder import BODY, RGB, MeshBuilder, Point, Skin
from headless_simulator.scene import GLASS, HEAD_LIGHT, MATTE, PAINT, TAIL_LIGHT, Mesh

DARK: Final[RGB] = (26, 27, 30)
PANE: Final[RGB] = (34, 42, 50)
LAMP: Final[RGB] = (232, 232, 222)
RED_LAMP: Final[RGB] = (150, 18, 20)

# Profile of a car: positions along the length (fractions of the half length, front = 1) and the height.
Profile = dict[str, float]
_CARS: Final[dict[str, Profile]] = {
    "sedan": {"belt": 0.60, "nose": 0.47, "boot": 0.56, "screen": 0.34, "front": 0.06, "back": -0.42, "tail": -0.72},
    "coupe": {"belt": 0.60, "nose": 0.46, "boot": 0.58, "screen": 0.28, "front": -0.04, "back": -0.40, "tail": -0.78},
    "hatch": {"belt": 0.58, "nose": 0.47, "boot": 0.60, "screen": 0.44, "front": 0.16, "back": -0.66, "tail": -0.90},
    "suv": {"belt": 0.58, "nose": 0.50, "boot": 0.58, "screen": 0.36, "front": 0.14, "back": -0.74, "tail": -0.92},
    "jeep": {"belt": 0.56, "nose": 0.54, "boot": 0.56, "screen": 0.20, "front": 0.12, "back": -0.80, "tail": -0.84},
    "micro": {"belt": 0.54, "nose": 0.46, "boot": 0.56, "screen": 0.78, "front": 0.34, "back": -0.62, "tail": -0.90},
}  # fmt: skip


class _Vehicle:
    """A builder scaled to one vehicle's box."""

    def __init__(self, spec: VehicleSpec) -> None:
        self.spec = spec
        self.half_m = spec.half_extent_m
        self.builder = MeshBuilder(tag=spec.tag)
        self.paint = Skin(BODY, PAINT)
        self.glass = Skin(PANE, GLASS)
        self.dark = Skin(DARK, MATTE)

    def at(self, x: float, y: float, z: float) -> Point:
        """Convert fractions (z: 0 ground .. 1 top) to metres around the centre of the box's bottom."""
        hx, hy, hz = self.half_m
        return (x * hx, y * hy, z * 2 * hz)

    def face(self, corners: Sequence[Point], skin: Skin, *, inside: Point) -> None:
        """Add a convex face; corners and the point behind it are fractions."""
        self.builder.polygon([self.at(*corner) for corner in corners], skin, inside=self.at(*inside))

    def section(self, x: float, width: float, bottom: float, shoulder: float, top: float) -> list[Point]:
        """Return a body's cross-section at x: sill, shoulder, and a narrower top edge."""
        outline = [
            (-width * 0.97, bottom),
            (-width, shoulder),
            (-width * 0.93, top),
            (width * 0.93, top),
            (width, shoulder),
            (width * 0.97, bottom),
        ]
        return [self.at(x, y, z) for y, z in outline]

    def hull(self, stations: Sequence[tuple[float, float, float, float]]) -> None:
        """Loft the lower body through (x, width, bottom, top) stations, rear to front."""
        rings = [
            self.section(x, width, bottom, bottom + (top - bottom) * 0.62, top) for x, width, bottom, top in stations
        ]
        self.builder.rings(rings, [self.paint, self.paint, self.paint, self.paint, self.paint, self.dark])

    def cabin(
        self,
        base: tuple[float, float],
        roof: tuple[float, float],
        heights: tuple[float, float],
        widths: tuple[float, float],
    ) -> None:
        """Add a greenhouse: ``base`` and ``roof`` are (rear x, front x); glass sides, painted roof and pillars."""
        low, high = heights
        wide, narrow = widths
        rings = [
            [self.at(rear, -y, z), self.at(front, -y, z), self.at(front, y, z), self.at(rear, y, z)]
            for (rear, front), y, z in ((base, wide, low), (roof, narrow, high))
        ]
        self.builder.rings(rings, self.glass, last=self.paint)
        self.window_frames(base, roof, heights, widths)

    def window_frames(
        self,
        base: tuple[float, float],
        roof: tuple[float, float],
        heights: tuple[float, float],
        widths: tuple[float, float],
    ) -> None:
        """Add painted pillars and roof rails slightly outside a greenhouse's glass."""
        (low, high), (wide, narrow) = heights, widths
        proud = 0.010
        middle = (roof[0] + roof[1]) / 2
        posts = (
            (base[0], base[0] + 0.07, roof[0], roof[0] + 0.05),
            (middle - 0.025, middle + 0.025, middle - 0.025, middle + 0.025),
            (base[1] - 0.05, base[1], roof[1] - 0.03, roof[1]),
        )
        inside = (middle, 0, (low + high) / 2)
        rail = high - 0.05 * (high - low) / 0.4
        share = (high - rail) / (high - low)
        rail_y = narrow + (wide - narrow) * share + proud
        rail_x = [top + (foot - top) * share for foot, top in zip(base, roof, strict=True)]
        for side in (-1, 1):
            for a, b, c, d in posts:
                foot_y, top_y = side * (wide + proud), side * (narrow + proud)
                self.face(
                    [(a, foot_y, low), (b, foot_y, low), (d, top_y, high), (c, top_y, high)], self.paint, inside=inside
                )
            feet = [(x, side * rail_y, rail) for x in rail_x]
            tops = [(x, side * (narrow + proud), high) for x in reversed(roof)]
            self.face([*feet, *tops], self.paint, inside=inside)
            for foot, top, sign in ((base[0], roof[0], -1), (base[1], roof[1], 1)):
                edges = [(foot, wide, low), (foot, wide - 0.07, low), (top, narrow - 0.06, high), (top, narrow, high)]
                self.face([(x + sign * 0.006, side * y, z) for x, y, z in edges], self.paint, inside=inside)

    def doors(self, gaps: Sequence[float], low: float, high: float) -> None:
        """Add dark door gaps on the flanks, with a handle behind each but the first."""
        for number, x in enumerate(gaps):
            self.band(x - 0.004, x + 0.004, low, high, self.dark, width=0.998)
            if number:
                self.band(x + 0.02, x + 0.07, high - 0.06, high - 0.04, self.dark, width=0.998)

    def lamps(
        self, x_front: float, x_back: float, low: float, high: float, *, inner: float = 0.52, outer: float = 0.88
    ) -> None:
        """Add two head lights and two tail lights as plates slightly outside the ends."""
        for side in (-1, 1):
            for x, skin in ((x_front, Skin(LAMP, HEAD_LIGHT)), (x_back, Skin(RED_LAMP, TAIL_LIGHT))):
                ends = [(inner, low), (outer, low), (outer, high), (inner, high)]
                self.face([(x, side * y, z) for y, z in ends], skin, inside=(0, side * 0.7, low))

    def slab(self, low: Point, high: Point, skin: Skin, *, top: float = 1.0, roof: Skin | None = None) -> None:
        """Add a box in fractions."""
        self.builder.box(self.at(*low), self.at(*high), skin, top=top, roof=roof)

    def axle(self, x: float, radius_m: float, *, reach: float = 0.985) -> None:
        """Add two wheels at one station, with outer faces slightly inside the box."""
        half_width_m = min(0.13, 0.16 * self.half_m[1])
        for side in (-1, 1):
            self.builder.wheel(
                (x * self.half_m[0], side * (reach * self.half_m[1] - half_width_m - 0.008), radius_m),
                radius_m,
                half_width_m,
            )

    def plate(self, x: float, low: float, high: float, half_width: float, skin: Skin) -> None:
        """Add an upright plate facing outward: a grille, a screen, a number plate."""
        ends = [(-half_width, low), (half_width, low), (half_width, high), (-half_width, high)]
        self.face([(x, y, z) for y, z in ends], skin, inside=(0, 0, low))

    def band(self, x0: float, x1: float, low: float, high: float, skin: Skin, *, width: float = 1.0) -> None:
        """Add a strip along both flanks: side windows, a livery."""
        for side in (-1, 1):
            ends = [(x0, low), (x1, low), (x1, high), (x0, high)]
            self.face([(x, side * width, z) for x, z in ends], skin, inside=((x0 + x1) / 2, 0, low))

    def finish(self) -> Mesh:
        """Return the mesh with the vehicle's box as bounds."""
        return self.builder.mesh_in_box(self.half_m, self.spec.box_offset_m)


def car(spec: VehicleSpec) -> Mesh:
    """Draw a passenger car: lower body, bonnet, greenhouse, wheels, lamps; police and taxi with a sign."""
    shape = {"police": "sedan", "taxi": "sedan"}.get(spec.shape, spec.shape)
    p = _CARS[shape]
    draw = _Vehicle(spec)
    roof_z = 0.94 if spec.shape in ("police", "taxi") else 1.0
    sill = 0.17 if shape != "jeep" else 0.26
    draw.hull(
        [
            (-0.99, 0.80, sill + 0.10, p["boot"] - 0.06),
            (-0.92, 0.95, sill, p["boot"]),
            (p["tail"], 0.99, sill, max(p["boot"], p["belt"] - 0.03)),
            (p["screen"], 0.99, sill, p["belt"]),
            (0.80, 0.95, sill, p["nose"] + 0.02),
            (0.94, 0.86, sill + 0.01, p["nose"] - 0.06),
            (0.992, 0.70, sill + 0.08, p["nose"] - 0.16),
        ]
    )
    draw.cabin((p["tail"], p["screen"]), (p["back"], p["front"]), (p["belt"] - 0.04, roof_z), (0.90, 0.70))
    draw.doors([p["screen"] - 0.04, (p["front"] + p["back"]) / 2, p["tail"] + 0.26], sill + 0.06, p["belt"] - 0.03)
    draw.lamps(0.985, -1.0, p["nose"] - 0.20, p["nose"] - 0.09, inner=0.42, outer=0.80)
    draw.plate(1.0, sill + 0.09, sill + 0.17, 0.34, draw.dark)
    draw.plate(-1.0, sill + 0.12, sill + 0.19, 0.28, Skin((206, 206, 200)))
    mirror_z = p["belt"]
    for side in (-1, 1):
        x = p["screen"] - 0.06
        draw.slab((x - 0.03, side * 0.90, mirror_z), (x + 0.03, side * 1.0, mirror_z + 0.08), draw.paint)
    radius_m = min(0.36, 0.235 * 2 * spec.half_extent_m[2])
    draw.axle(0.60, radius_m)
    draw.axle(-0.60, radius_m)
    if spec.shape == "police":
        draw.band(-0.34, 0.32, 0.24, 0.53, Skin((232, 232, 232)), width=1.0)
        middle = (p["front"] + p["back"]) / 2
        draw.slab((middle - 0.05, -0.52, 0.93), (middle + 0.05, 0.0, 1.0), Skin((190, 24, 30)))
        draw.slab((middle - 0.05, 0.0, 0.93), (middle + 0.05, 0.52, 1.0), Skin((28, 60, 190)))
    if spec.shape == "taxi":
        middle = (p["front"] + p["back"]) / 2
        draw.slab((middle - 0.04, -0.30, 0.93), (middle + 0.04, 0.30, 1.0), Skin((240, 236, 210)))
    return draw.finish()


def cyber(spec: VehicleSpec) -> Mesh:
    """Draw the angular pick-up: one ridge over a wedge."""
    draw = _Vehicle(spec)
    draw.hull(
        [
            (-1.0, 0.92, 0.26, 0.62),
            (-0.86, 0.99, 0.22, 0.64),
            (0.52, 0.99, 0.22, 0.60),
            (0.92, 0.90, 0.24, 0.52),
            (1.0, 0.80, 0.30, 0.46),
        ]
    )
    draw.cabin((-0.50, 0.62), (-0.02, 0.10), (0.58, 1.0), (0.90, 0.72))
    draw.slab((-0.98, -0.86, 0.60), (-0.45, 0.86, 0.70), draw.dark, top=0.97)
    draw.plate(1.004, 0.44, 0.465, 0.76, Skin(LAMP, HEAD_LIGHT))
    draw.plate(-1.004, 0.56, 0.60, 0.86, Skin(RED_LAMP, TAIL_LIGHT))
    draw.axle(0.62, 0.44)
    draw.axle(-0.62, 0.44)
    return draw.finish()


def van(spec: VehicleSpec) -> Mesh:
    """Draw a van, a camper or an ambulance: one high body with a short bonnet."""
    draw = _Vehicle(spec)
    camper = spec.shape == "camper"
    ambulance = spec.shape == "ambulance"
    body_back, top = (-0.98, 0.96 if ambulance else 1.0)
    nose = 0.98 if camper else 0.70
    rings = [
        draw.section(body_back, 0.93, 0.16, 0.52, top - 0.06),
        draw.section(-0.90, 0.98, 0.13, 0.52, top),
        draw.section(0.30, 0.98, 0.13, 0.52, top),
        draw.section(nose - 0.10, 0.96, 0.13, 0.50, 0.56 if not camper else 0.60),
        draw.section(0.99, 0.84, 0.17, 0.36, 0.42 if not camper else 0.52),
    ]
    draw.builder.rings(rings, [draw.paint] * 5 + [draw.dark])
    low, high, tilt = 0.585, top - 0.04, nose - 0.10
    front = tilt + 0.022
    ramp = [(0.318, -0.80, high), (0.318, 0.80, high), (front, 0.84, low + 0.02), (front, -0.84, low + 0.02)]
    draw.face(ramp, draw.glass, inside=(0, 0, 0.3))
    draw.band(0.02, 0.36, 0.56, 0.78, draw.glass, width=1.0)
    if camper:
        draw.band(-0.86, -0.04, 0.60, 0.80, draw.glass, width=1.0)
        draw.band(-0.94, 0.80, 0.20, 0.50, Skin((238, 232, 216)), width=0.998)
    if ambulance:
        draw.band(-0.90, 0.24, 0.36, 0.46, Skin((196, 30, 30)))
        for y, colour in ((-0.5, (190, 24, 30)), (0.5, (28, 60, 190))):
            draw.slab((0.16, y - 0.26, 0.94), (0.26, y + 0.26, 1.0), Skin(colour))
    draw.plate(-0.99, 0.60, 0.84, 0.70, draw.glass)
    draw.lamps(0.998, -1.0, 0.27, 0.37)
    radius_m = 0.34
    draw.axle(0.62, radius_m)
    draw.axle(-0.62, radius_m)
    return draw.finish()


def lorry(spec: VehicleSpec) -> Mesh:
    """Draw a lorry: driver's cab, chassis, and the load of its shape (box, tank of a fire engine)."""
    draw = _Vehicle(spec)
    fire = spec.shape == "fire"
    cab_back, cab_top = (0.36, 0.86) if fire else (0.52, 0.84 if spec.shape == "hgv" else 0.80)
    draw.slab((-0.98, -0.62, 0.16), (0.94, 0.62, 0.28), draw.dark)
    cab = [
        draw.section(cab_back, 0.96, 0.16, 0.5, cab_top),
        draw.section(0.92, 0.96, 0.16, 0.5, cab_top),
        draw.section(1.0, 0.92, 0.18, 0.46, 0.52),
    ]
    draw.builder.rings(cab, [draw.paint] * 5 + [draw.dark])
    screen = [(0.935, -0.80, cab_top - 0.04), (0.935, 0.80, cab_top - 0.04), (1.004, 0.84, 0.54), (1.004, -0.84, 0.54)]
    draw.face(screen, draw.glass, inside=(0, 0, 0.3))
    draw.band(cab_back + 0.10, 0.88, 0.52, cab_top - 0.08, draw.glass, width=0.985)
    if fire:
        draw.slab((-1.0, -0.98, 0.26), (0.33, 0.98, 0.80), draw.paint, roof=Skin((150, 152, 156)))
        draw.band(-0.98, 0.31, 0.48, 0.53, Skin((236, 236, 236)), width=0.99)
        draw.band(-0.92, 0.22, 0.57, 0.76, Skin((124, 128, 134)), width=0.987)
        for y in (-0.34, 0.34):
            draw.slab((-0.96, y - 0.05, 0.84), (0.62, y + 0.05, 0.90), Skin((196, 198, 200)))
        draw.slab((0.56, -0.66, 0.86), (0.68, 0.66, 1.0), Skin((28, 60, 190)))
    else:
        cargo = draw.paint if spec.shape == "box_truck" else Skin((226, 227, 229))
        draw.slab((-1.0, -0.985, 0.26), (cab_back - 0.05, 0.985, 1.0), cargo, roof=Skin((206, 208, 210)))
        livery = Skin((238, 236, 230)) if spec.shape == "box_truck" else Skin(BODY, PAINT)
        draw.band(-0.86, cab_back - 0.18, 0.46, 0.74, livery, width=1.0)
    draw.lamps(1.006, -1.004, 0.24, 0.31, inner=0.60, outer=0.92)
    radius_m = 0.14 * 2 * spec.half_extent_m[2] if spec.half_extent_m[2] < 1.5 else 0.50
    stations = (0.70, -0.58) if spec.wheels == 4 else (0.72, -0.42, -0.72)
    for x in stations:
        draw.axle(x, radius_m, reach=0.96)
    return draw.finish()


def bus(spec: VehicleSpec) -> Mesh:
    """Draw a bus: one long box with a row of windows, a destination plate and roof hatches."""
    draw = _Vehicle(spec)
    rings = [
        draw.section(x, w, 0.11, 0.60, t)
        for x, w, t in ((-1.0, 0.95, 0.93), (-0.96, 0.985, 0.96), (0.95, 0.985, 0.96), (1.0, 0.94, 0.92))
    ]
    draw.builder.rings(rings, [draw.paint] * 5 + [draw.dark])
    windows = 6
    for i in range(windows):
        start = -0.92 + i * 1.80 / windows
        draw.band(start + 0.012, start + 1.80 / windows - 0.012, 0.52, 0.83, draw.glass, width=0.992)
    draw.band(-0.95, 0.95, 0.36, 0.43, Skin((40, 80, 150)), width=1.0)
    draw.plate(1.006, 0.40, 0.80, 0.88, draw.glass)
    draw.plate(1.01, 0.83, 0.91, 0.66, Skin((232, 160, 40)))
    draw.plate(-1.006, 0.56, 0.82, 0.76, draw.glass)
    for x in (-0.5, 0.35):
        draw.slab((x - 0.12, -0.46, 0.95), (x + 0.12, 0.46, 1.0), Skin((196, 198, 200)), top=0.9)
    draw.lamps(1.008, -1.008, 0.20, 0.29, inner=0.60, outer=0.90)
    for x in (0.62, -0.56):
        draw.axle(x, 0.46, reach=0.97)
    return draw.finish()


BODIES: Final[dict[str, Callable[[VehicleSpec], Mesh]]] = {
    **dict.fromkeys((*_CARS, "police", "taxi"), car),
    "cyber": cyber,
    **dict.fromkeys(("van", "camper", "ambulance"), van),
    **dict.fromkeys(("box_truck", "hgv", "fire"), lorry),
    "bus": bus,
}
