"""Solve encounters in the air: find a path for a request (range, bearing, closest approach), or refuse it.

Three of range, closing speed, distance and time of the closest approach determine the fourth. ``refusals.py`` finds the
nearest possible request for a refused one.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.intruders import approach
from uavsim.ingredients.intruders.intruder_plans import INTRUDERS, IntruderKind
from uavsim.ingredients.intruders.paths import Chord, Impossible, OwnPath, Profile, profile, solve_chord
from uavsim.typing import FloatArray

__all__ = ["MAGNITUDES", "Clearance", "Encounter", "EncounterSpec", "Impossible", "poses_along", "solve"]

_WITHIN: Final = 0.01
_WITHIN_M, _WITHIN_S, _WITHIN_MPS = 0.05, 0.02, 0.05
MAGNITUDES: Final = ("range_m", "closing_mps", "cpa_m", "time_to_cpa_s")
_SIDES: Final = (0.0, 180.0, 90.0, 270.0, 45.0, 135.0)
_SEARCH_STEPS: Final = 40
_SAME_MPS: Final = 1e-4
_FAR_OFF: Final = 1.25  # factor of the speed limits beyond which no other passing side helps
_GRAVITY: Final = 9.81
_SAME_WAY_DEG: Final = 45.0
Clearance = Callable[[FloatArray], str | None]
"""Describes the conflict of (K, 3) map positions, metres, or returns None; infinite positions have no conflict."""


@dataclass(frozen=True, slots=True)
class EncounterSpec:
    """A request for an encounter, with three of ``range_m``, ``closing_mps``, ``cpa_m``, ``time_to_cpa_s``.

    Args:
        kind: kind of intruder, a name of ``INTRUDERS``.
        path: rectilinear, turning, climbing, overtaking or non_cooperative.
        azimuth_deg: azimuth of the intruder in the camera at the start, to the right.
        elevation_deg: elevation at the start, upwards.
        range_m: range at the start.
        closing_mps: speed at which the range shrinks at the start.
        cpa_m: distance of the closest approach.
        time_to_cpa_s: time from the begin to the closest approach.
        begin_s: scene time of the begin.
        passing_deg: side on which it passes: 0 right, 90 above; default: the first possible side.
        turn_dps: turning: turn rate to the right; non_cooperative: greatest turn rate of its weave.
        weave_s: non_cooperative: period of its weave.
        climb_mps: climbing: gain of vertical speed.
        climb_before_s: climbing: time from the gain to the closest approach.
    """

    kind: str
    path: str
    azimuth_deg: float
    elevation_deg: float
    range_m: float | None = None
    closing_mps: float | None = None
    cpa_m: float | None = None
    time_to_cpa_s: float | None = None
    begin_s: float = 0.0
    passing_deg: float | None = None
    turn_dps: float = 0.0
    weave_s: float = 0.0
    climb_mps: float = 0.0
    climb_before_s: float = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class Encounter:
    """A path that fulfils a request, and its measurements.

    Args:
        spec: the request.
        map_SE3_flu: (K,) poses of the intruder.
        range_m: (K,) distances from the own drone.
        closing_mps: (K,) closing speeds.
        begin: index of the encounter's first sample.
        cpa: closest point of approach of the whole flight.
        azimuth_deg: azimuth in the camera at the start, as ``elevation_deg``.
        speed_mps: speed along the ground.
    """

    spec: EncounterSpec
    map_SE3_flu: SE3
    range_m: FloatArray
    closing_mps: FloatArray
    begin: int
    cpa: approach.Approach
    azimuth_deg: float
    elevation_deg: float
    speed_mps: float


@dataclass(frozen=True, slots=True, eq=False)
class _Setting:
    """The constants of all attempts at one request."""

    spec: EncounterSpec
    kind: IntruderKind
    own_path: OwnPath
    map_SE3_camera: SE3
    clearance: Clearance
    begin: int
    sight: FloatArray
    begin_mps: FloatArray
    shapes: dict[float, Profile] = field(default_factory=dict)

    def shape(self, lasts_s: float) -> Profile:
        climb_from_s = self.spec.begin_s + lasts_s - self.spec.climb_before_s if self.spec.climb_mps else 0.0
        if climb_from_s not in self.shapes:
            self.shapes[climb_from_s] = profile(
                self.own_path.time_s, begin=self.begin, turn_dps=self.spec.turn_dps, weave_s=self.spec.weave_s,
                climb_mps=self.spec.climb_mps, climb_from_s=climb_from_s,
            )  # fmt: skip
        return self.shapes[climb_from_s]

    def chord(self, values: dict[str, float], passing_deg: float) -> Chord:
        lasts_s = values["time_to_cpa_s"]
        end_s = float(self.own_path.time_s[-1]) - self.spec.begin_s
        if not 0.0 < lasts_s <= end_s:
            raise Impossible(
                f"the closest approach is {lasts_s:.1f} s after the start, the flight lasts {end_s:.1f} s",
                on_any_side=True,
            )
        cpa_m, range_m = values["cpa_m"], values["range_m"]
        if cpa_m >= range_m:
            raise Impossible(f"cpa_m {cpa_m:.4g} is not below range_m {range_m:.4g}", on_any_side=True)
        return solve_chord(
            self.own_path, self.shape(lasts_s), begin=self.begin, sight=self.sight, distance_m=values["range_m"],
            cpa_m=values["cpa_m"], lasts_s=lasts_s, passing_deg=passing_deg,
        )  # fmt: skip

    def closing_mps(self, chord: Chord) -> float:
        relative = np.array([chord.course.real, chord.course.imag, chord.climb_mps]) - self.begin_mps
        return -float(self.sight @ relative)


def solve(
    spec: EncounterSpec, own_path: OwnPath, map_SE3_camera: SE3, *, clearance: Clearance | None = None
) -> Encounter:
    """Return the path that fulfils a request.

    Args:
        spec: the request.
        own_path: the camera drone's path.
        map_SE3_camera: (K,) poses of the camera's flu frame; it looks along x.
        clearance: describes conflicts of a path; None for no check.

    Raises:
        Impossible: no path exists; the message is the reason.
    """
    kind = INTRUDERS[spec.kind]
    begin = round(spec.begin_s / own_path.step_s)
    if not 0 <= begin < len(own_path.time_s) - 1:
        raise Impossible(f"it begins at {spec.begin_s:g} s, the flight ends at {own_path.time_s[-1]:g} s")
    _check_rates(spec, kind)
    bearing = approach.direction_flu(azimuth_deg=spec.azimuth_deg, elevation_deg=spec.elevation_deg)
    sight, begin_mps = map_SE3_camera[begin].rotate(bearing), own_path.at(spec.begin_s)[1]
    setting = _Setting(spec, kind, own_path, map_SE3_camera, clearance or (lambda _: None), begin, sight, begin_mps)
    refused: Impossible | None = None
    for side in _SIDES if spec.passing_deg is None else (spec.passing_deg,):
        try:
            return _fly(setting, *_fitted(setting, side))
        except Impossible as impossible:
            refused = refused or impossible
            if impossible.on_any_side:
                break
    assert refused is not None
    raise refused


def _a(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _check_rates(spec: EncounterSpec, kind: IntruderKind) -> None:
    magnitudes = [name for name in MAGNITUDES if getattr(spec, name) is not None]
    if len(magnitudes) < len(MAGNITUDES) - 1:
        raise Impossible(f"set three of {', '.join(MAGNITUDES)}; set now: {', '.join(magnitudes) or 'none'}")
    if abs(spec.turn_dps) > kind.turn_dps:
        raise Impossible(
            f"turn_dps {spec.turn_dps:g}: {_a(spec.kind)} turns by {kind.turn_dps:g} degrees a second at most"
        )
    if abs(spec.climb_mps) > kind.climb_mps:
        raise Impossible(f"climb_mps {spec.climb_mps:g}: {_a(spec.kind)} climbs at {kind.climb_mps:g} m/s at most")


def _fitted(setting: _Setting, side: float) -> tuple[Chord, dict[str, float]]:
    """Return the path with the requested magnitudes; search for the missing one."""
    spec = setting.spec
    values = {name: value for name in MAGNITUDES if (value := getattr(spec, name)) is not None}
    missing = next((name for name in MAGNITUDES if name not in values), None)
    closing = values.pop("closing_mps", None)
    if missing in (None, "closing_mps"):
        chord = setting.chord(values, side)
        found = setting.closing_mps(chord)
        if closing is not None and abs(found - closing) > max(_WITHIN * abs(closing), _WITHIN_MPS):
            raise Impossible(
                f"closing_mps {closing:g} contradicts range_m, cpa_m and time_to_cpa_s, which give {found:.4g}"
            )
        return chord, values
    assert missing is not None
    assert closing is not None
    return _search(setting, values, missing, closing=closing, side=side)


def _search(
    setting: _Setting, values: dict[str, float], missing: str, *, closing: float, side: float
) -> tuple[Chord, dict[str, float]]:
    """Find the missing magnitude for the closing speed by the secant method, from the value for straight paths."""
    before = _straight(values, missing, closing=closing)
    value, last = before * 1.001 + 1e-3, None
    for _ in range(_SEARCH_STEPS):
        chord = setting.chord({**values, missing: max(value, 0.0)}, side)
        off = setting.closing_mps(chord) - closing
        if abs(off) < _SAME_MPS:
            return chord, {**values, missing: max(value, 0.0)}
        if last is None:
            last = setting.closing_mps(setting.chord({**values, missing: before}, side)) - closing
        if off == last:
            break
        step = -off * (value - before) / (off - last)
        before, last = value, off
        value += min(max(step, -0.5 * value - 1.0), 0.5 * value + 1.0)
    raise Impossible(f"no {missing} yields closing_mps {closing:g} with the other values")


def _straight(values: dict[str, float], missing: str, *, closing: float) -> float:
    """Return the missing magnitude of two straight paths: cpa^2 = range^2 - closing * range * time."""
    if closing <= 0.0:
        raise Impossible(f"closing_mps {closing:g} is not positive", on_any_side=True)
    if missing == "range_m":
        way = closing * values["time_to_cpa_s"]
        return (way + math.sqrt(way * way + 4.0 * values["cpa_m"] ** 2)) / 2.0
    square = values["range_m"] ** 2
    if missing == "time_to_cpa_s":
        return max(square - values["cpa_m"] ** 2, 0.0) / (closing * values["range_m"])
    left = square - closing * values["range_m"] * values["time_to_cpa_s"]
    if left < 0.0:
        raise Impossible(
            f"at closing_mps {closing:g} it arrives after {values['range_m'] / closing:.4g} s, before time_to_cpa_s",
            on_any_side=True,
        )
    return math.sqrt(left)


def _fly(setting: _Setting, chord: Chord, values: dict[str, float]) -> Encounter:
    """Compute the whole path and check it against the request, the kind's limits and obstacles."""
    spec, kind, own_path = setting.spec, setting.kind, setting.own_path
    _check_speed(spec, kind, chord, setting.shape(values["time_to_cpa_s"]))
    if spec.path == "overtaking":
        _check_same_way(chord, setting.begin_mps)
    shape = setting.shape(values["time_to_cpa_s"])
    places_m = chord.places(shape, own_path.time_s, begin=setting.begin)
    cpa = approach.closest_approach(own_path.time_s, own_path.position_m, places_m)
    at_s = spec.begin_s + values["time_to_cpa_s"]
    late = abs(cpa.time_s - at_s) > max(_WITHIN * values["time_to_cpa_s"], _WITHIN_S)
    if abs(cpa.distance_m - values["cpa_m"]) > max(_WITHIN * values["cpa_m"], _WITHIN_M) or (
        late and cpa.distance_m < values["cpa_m"] * (1.0 - 1e-6)
    ):
        raise Impossible(f"it comes nearer than cpa_m, {cpa.distance_m:.4g} m at {cpa.time_s:.1f} s of the flight")
    if late:
        raise Impossible(f"its distance hardly changes: it is as near at {cpa.time_s:.1f} s of the flight")
    if (near := setting.clearance(places_m)) is not None:
        begin_m = np.full_like(places_m, np.inf)
        begin_m[setting.begin] = places_m[setting.begin]  # exact on every passing side
        raise Impossible(near, on_any_side=spec.range_m is not None and setting.clearance(begin_m) is not None)
    bearing = approach.bearing_deg(
        setting.map_SE3_camera[setting.begin].inverse().apply(places_m[setting.begin]),
    )
    turn_rate = np.gradient(shape.turned_rad, own_path.time_s)
    return Encounter(
        spec=spec,
        map_SE3_flu=poses_along(places_m, own_path.time_s, turn_rate_radps=turn_rate, banks=kind.banks),
        range_m=approach.range_m(own_path.position_m, places_m),
        closing_mps=approach.closing_mps(own_path.time_s, own_path.position_m, places_m),
        begin=setting.begin,
        cpa=cpa,
        azimuth_deg=float(bearing[0]),
        elevation_deg=float(bearing[1]),
        speed_mps=abs(chord.course),
    )


def _check_speed(spec: EncounterSpec, kind: IntruderKind, chord: Chord, shape: Profile) -> None:
    speed, (low, high) = abs(chord.course), kind.speed_mps
    if not low <= speed <= high:
        flies = f"{_a(spec.kind)} flies at {low:g} to {high:g} m/s"
        raise Impossible(
            f"it would have to fly at {speed:.4g} m/s, {flies}",
            on_any_side=not low / _FAR_OFF <= speed <= high * _FAR_OFF,
        )
    steepest = chord.climb_mps + max((float(shape.climb_mps.min()), float(shape.climb_mps.max())), key=abs)
    steepest = max(chord.climb_mps, steepest, key=abs)
    if abs(steepest) > kind.climb_mps:
        verb = "climb" if steepest > 0.0 else "sink"
        raise Impossible(
            f"it would have to {verb} at {abs(steepest):.4g} m/s, {_a(spec.kind)} does so at {kind.climb_mps:g} m/s at most"
        )


def _check_same_way(chord: Chord, own_mps: FloatArray) -> None:
    ground = complex(own_mps[0], own_mps[1])
    if abs(ground) < 1.0:
        raise Impossible("overtaking: the own drone hovers when the encounter begins")
    between = chord.course * ground.conjugate()
    off = abs(math.degrees(math.atan2(between.imag, between.real)))
    if off > _SAME_WAY_DEG:
        raise Impossible(f"overtaking: the courses differ by {off:.0f} degrees, more than {_SAME_WAY_DEG:g}")


def poses_along(places_m: FloatArray, time_s: FloatArray, *, turn_rate_radps: FloatArray, banks: bool) -> SE3:
    """Return (K,) ``map_SE3_flu`` with the nose along (K, 3) positions; banking kinds lean in turns, others stay level."""
    velocity = np.gradient(places_m, time_s, axis=0, edge_order=2)
    ground = np.hypot(velocity[:, 0], velocity[:, 1])
    attitude = quaternion.from_yaw(np.arctan2(velocity[:, 1], velocity[:, 0]))
    if banks:
        pitch = quaternion.from_axis_angle(np.array([0.0, -1.0, 0.0]), np.arctan2(velocity[:, 2], ground))
        roll = quaternion.from_axis_angle(np.array([-1.0, 0.0, 0.0]), np.arctan(ground * turn_rate_radps / _GRAVITY))
        attitude = quaternion.multiply(quaternion.multiply(attitude, pitch), roll)
    return SE3(attitude, places_m)
