"""Measure AirSim's origin in CARLA's frame, which a merged build does not report.

The program spawns CARLA props at known places, one at a time, and reads the pose of the new object in AirSim's list. Both
frames have parallel axes (NED is CARLA's frame with z flipped): the origin is the mean of the differences. Residual and
rotation between the frames are reported.
"""

import argparse
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from uavsim.errors import SimulatorError
from uavsim.geometry import unreal
from uavsim.simulate.airsim.link import AirSimLink
from uavsim.simulate.carla.world import CarlaWorld
from uavsim.simulate.one_line import answer_in_one_line
from uavsim.simulate.ports import Endpoint
from uavsim.typing import FloatArray

_POSITIONS_UE_M: Final = np.array([[0.0, 0, 90], [60, 10, 95], [-40, 50, 110], [25, -60, 100], [-70, -35, 120]])
_PROP: Final = "static.prop.streetbarrier"


@dataclass(frozen=True, slots=True)
class OriginMeasurement:
    """AirSim's PlayerStart in CARLA's frame.

    Attributes:
        origin_ue_m: value of ``airsim_origin_ue_m`` in the town's YAML.
        residual_m: root mean square of the residuals.
        worst_m: largest residual.
        turn_deg: rotation about z with the best fit; 0 for parallel axes.
        points: number of measured places.
    """

    origin_ue_m: tuple[float, float, float]
    residual_m: float
    worst_m: float
    turn_deg: float
    points: int


def solve_origin(positions_ue_m: FloatArray, positions_ned_m: FloatArray) -> OriginMeasurement:
    """Solve ``ue = origin + diag(1, 1, -1) ned``, metres, by least squares.

    Args:
        positions_ue_m: (N, 3) in CARLA's frame, N >= 3, not collinear.
        positions_ned_m: (N, 3) the same places in AirSim's world.

    Raises:
        SimulatorError: there are fewer than three points.
    """
    if len(positions_ue_m) < 3:
        raise SimulatorError(f"the origin needs at least 3 measured positions, got {len(positions_ue_m)}")
    mirrored = positions_ned_m * (1.0, 1.0, -1.0)
    origin = (positions_ue_m - mirrored).mean(axis=0)
    residuals_m = np.linalg.norm(positions_ue_m - mirrored - origin, axis=1)
    a, b = (p[:, :2] - p[:, :2].mean(axis=0) for p in (mirrored, positions_ue_m))
    turn = np.degrees(np.arctan2((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum(), (a * b).sum()))
    return OriginMeasurement(
        origin_ue_m=(float(origin[0]), float(origin[1]), float(origin[2])),
        residual_m=float(np.sqrt((residuals_m**2).mean())),
        worst_m=float(residuals_m.max()),
        turn_deg=float(turn),
        points=len(positions_ue_m),
    )


def measure_origin(carla: Endpoint, airsim: Endpoint) -> OriginMeasurement:
    """Spawn props in a running merged simulator, and read their places from AirSim.

    Raises:
        SimulatorError: no new object appears in AirSim.
    """
    world, link = CarlaWorld(carla.host, carla.port), AirSimLink(airsim.host, airsim.port)
    positions_ned_m = [_find(world, link, position_ue_m) for position_ue_m in _POSITIONS_UE_M]
    world.close()
    return solve_origin(_POSITIONS_UE_M, np.stack(positions_ned_m))


def _find(world: CarlaWorld, link: AirSimLink, position_ue_m: FloatArray) -> FloatArray:
    """Spawn a prop at (3,) CARLA metres, and return its place in AirSim's world, (3,) NED metres."""
    before = set(link.object_names())
    prop = world.spawn_prop(_PROP, position_ue_m)
    try:
        new = sorted(set(link.object_names()) - before)
        if not new:
            raise SimulatorError(
                "a CARLA prop is missing in AirSim's objects; give both addresses of one merged simulator"
            )
        return unreal.ue_vector_from_map(link.object_map_m(new[0])) * (1.0, 1.0, -1.0)
    finally:
        world.remove_prop(prop)


def main() -> None:
    """``python -m uavsim.probing.calibrate --carla HOST:PORT --airsim HOST:PORT`` prints the measurement as JSON."""
    parser = argparse.ArgumentParser(prog="uavsim-calibrate")
    parser.add_argument("--carla", required=True)
    parser.add_argument("--airsim", required=True)
    options = parser.parse_args()
    answer_in_one_line(
        lambda: {
            "measurement": asdict(
                measure_origin(
                    Endpoint.parse(options.carla, what="--carla"), Endpoint.parse(options.airsim, what="--airsim")
                )
            )
        }
    )


if __name__ == "__main__":
    main()
