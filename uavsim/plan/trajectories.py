"""Trajectories from files, one per drone, that replace a route's path and a formation's offsets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline

from uavsim.config.library import Library
from uavsim.config.load import Loaded
from uavsim.config.routes import RoutesConfig, Trajectories
from uavsim.errors import ConfigError, InputError
from uavsim.geometry.frames import MAP_SE3_NED, quat_map_from_ned
from uavsim.geometry.se3 import SE3
from uavsim.plan.path import FlightPath, fly_route
from uavsim.records.plan import SwarmTrajectory
from uavsim.typing import FloatArray

_COLUMNS: Final = ("t", "x", "y", "z", "qx", "qy", "qz", "qw")
_NORM_SLACK: Final = 1e-2  # of a quaternion with three decimals


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """The poses of one drone over time.

    Attributes:
        time_s: (N,) float64, increasing, from 0.
        map_SE3_flu: (N,) body poses in the map frame, metres.
    """

    time_s: FloatArray
    map_SE3_flu: SE3

    @property
    def duration_s(self) -> float:
        """Time of the last pose, seconds."""
        return float(self.time_s[-1])

    def at(self, time_s: FloatArray) -> SE3:
        """Interpolate (K,) poses at (K,) times within the trajectory by cubic splines, of position and of attitude."""
        position = CubicSpline(self.time_s, self.map_SE3_flu.translation_m, bc_type="natural")
        attitude = RotationSpline(self.time_s, Rotation.from_quat(np.roll(self.map_SE3_flu.quat_wxyz, -1, axis=-1)))
        return SE3.from_quat_wxyz(np.roll(attitude(time_s).as_quat(), 1, axis=-1), np.asarray(position(time_s)))


def read_trajectory(text: str, *, frame: str) -> Trajectory:
    """Parse one trajectory.

    Args:
        text: lines of ``t x y z qx qy qz qw`` (seconds, metres, body attitude), separated by blanks or commas; ``#`` begins
            a comment. A first line of these names may give another order, and further columns, which are ignored.
        frame: ``map`` (body forward-left-up in the dataset's map frame) or ``ned`` (AirSim's: forward-right-down).

    Raises:
        InputError: a row is invalid, or there are fewer than two rows; the message names the line.

    Source: TUM RGB-D benchmark, "File Formats".
    """
    order, rows, lines = list(_COLUMNS), list[list[float]](), list[int]()
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split("#")[0].replace(",", " ").split()
        if words and not rows and set(_COLUMNS) <= set(words):
            order = words
        elif words:
            rows.append(_row(words, order, number))
            lines.append(number)
    if len(rows) < 2:
        raise InputError(f"a trajectory needs two rows ({' '.join(_COLUMNS)}) or more, but this one has {len(rows)}")
    values = np.array(rows)
    late = np.flatnonzero(np.diff(values[:, 0]) <= 0.0)
    if late.size:
        raise InputError(
            f"line {lines[late[0] + 1]}: time {values[late[0] + 1, 0]:g} s is not after {values[late[0], 0]:g} s"
        )
    quat_wxyz, position_m = values[:, [7, 4, 5, 6]], values[:, 1:4]
    if frame == "ned":
        quat_wxyz, position_m = quat_map_from_ned(quat_wxyz), MAP_SE3_NED.apply(position_m)
    return Trajectory(values[:, 0] - values[0, 0], SE3.from_quat_wxyz(quat_wxyz, position_m))


def read_trajectories(library: Library, routes: Loaded[RoutesConfig], route: str) -> list[Trajectory]:
    """Read the trajectory of each drone on a route.

    Raises:
        ConfigError: a file is missing or invalid; the message names route, file and line.
    """
    files = routes.model.routes[route].trajectories
    assert files is not None, "a route of files"
    found = []
    for i, name in enumerate(files.files):
        try:
            found.append(read_trajectory(library.trajectory(name, named_in=routes.source.path), frame=files.frame))
        except InputError as error:
            what = str(error) if isinstance(error, ConfigError) else f"{name}: {error}"
            raise routes.error(("routes", route, "trajectories", "files", i), what) from error
    return found


def route_path(library: Library, routes: Loaded[RoutesConfig], route: str) -> FlightPath:
    """Sample a route for checks and drawings: its path 60 m up, or the trajectory of its drone 0."""
    if (path := routes.model.routes[route]).trajectories is None:
        return fly_route(path, altitude_m=60.0)
    first = read_trajectories(library, routes, route)[0]
    still = np.zeros(len(first.time_s))
    return FlightPath(first.time_s, still, first.map_SE3_flu.translation_m, still, closed=False)


def _row(words: Sequence[str], order: Sequence[str], number: int) -> list[float]:
    try:
        named = dict(zip(order, map(float, words), strict=True))
    except ValueError:
        raise InputError(f"line {number}: expected {len(order)} numbers ({' '.join(order)})") from None
    row = [named[name] for name in _COLUMNS]
    if not np.isfinite(row).all():
        raise InputError(f"line {number}: has a number that is not finite")
    if abs(np.linalg.norm(row[4:]) - 1.0) > _NORM_SLACK:
        raise InputError(f"line {number}: the quaternion qx qy qz qw has length {np.linalg.norm(row[4:]):.3f}, not 1")
    return row


def fly_trajectories(
    drones: Sequence[Trajectory], files: Trajectories, *, time_s: FloatArray, start_share: float
) -> SwarmTrajectory:
    """Fly every drone along its trajectory.

    Args:
        drones: one trajectory for each drone.
        files: the route's entry, with the greatest speed.
        time_s: (K,) times of the scene's steps, from 0.
        start_share: start of the scene as a share of the spare time, 0 to 1.

    Raises:
        InputError: a trajectory is shorter than the scene, or a drone flies faster than ``max_speed_mps``.
    """
    shortest = min(range(len(drones)), key=lambda drone: drones[drone].duration_s)
    free_s = drones[shortest].duration_s - float(time_s[-1])
    if free_s < 0.0:
        raise InputError(
            f"the trajectory of drone {shortest} lasts {drones[shortest].duration_s:g} s, but a scene {time_s[-1]:g} s"
        )
    at_s = start_share * free_s + time_s
    poses = [drone.at(at_s) for drone in drones]
    positions_m = np.stack([pose.translation_m for pose in poses], axis=1)
    map_SE3_flu = SE3(np.stack([pose.quat_wxyz for pose in poses], axis=1), positions_m)
    speed_mps = np.linalg.norm(np.diff(positions_m, axis=0), axis=2) / np.diff(time_s)[:, None]
    if (speed_mps > files.max_speed_mps).any():
        step, drone = np.unravel_index(int((speed_mps > files.max_speed_mps).argmax()), speed_mps.shape)
        x, y, z = positions_m[step, drone]
        raise InputError(
            f"drone {drone} flies {speed_mps[step, drone]:.1f} m/s at {at_s[step]:.2f} s (x={x:.1f} y={y:.1f} z={z:.1f}); "
            f"max_speed_mps is {files.max_speed_mps:g}"
        )
    return SwarmTrajectory(tuple(range(len(drones))), map_SE3_flu)
