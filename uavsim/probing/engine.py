"""Measure how a merged simulator behaves in synchronous mode and under ``simPause``, for ``uavsim doctor``.

The program spawns a plan's traffic, pauses the game, and measures the effects of an AirSim call and of ticks. The caller kills
the process if it hangs.
"""

import argparse
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from uavsim.config.deadlines import Deadlines
from uavsim.errors import SimulatorError
from uavsim.probing.engine_facts import EngineFacts
from uavsim.records.codec import unpack_plan
from uavsim.records.plan import ScenePlan
from uavsim.simulate.airsim.link import AirSimLink
from uavsim.simulate.carla.world import CarlaWorld
from uavsim.simulate.merged_engine import largest_move_m
from uavsim.simulate.one_line import answer_in_one_line
from uavsim.simulate.ports import Endpoint, TickState

_RUN_UP: Final = 40  # ticks in which the traffic comes to speed
_PAUSED: Final = 5
_PATIENCE_S: Final = 1.5


def measure_engine(plan: ScenePlan, carla: Endpoint, airsim: Endpoint) -> EngineFacts:
    """Measure a running merged simulator with the traffic of a plan, and remove the traffic.

    Raises:
        SimulatorError: the simulator is not merged, or does not answer.
    """
    world = CarlaWorld(carla.host, carla.port)
    thread = ThreadPoolExecutor(1, thread_name_prefix="airsim")  # a client lives in one thread
    link: AirSimLink = thread.submit(lambda: AirSimLink(airsim.host, airsim.port)).result()
    try:
        world.prepare(plan, heartbeat=_ignore_heartbeat)
        world.populate(plan, heartbeat=_ignore_heartbeat)
        return _measured(world, link, thread)
    finally:
        thread.submit(lambda: link.client.simPause(False)).result()
        world.close()


def _ignore_heartbeat(_phase: str, _n: int) -> None:
    """Ignore the heartbeat: the caller reads one line of output only."""


def _measured(world: CarlaWorld, link: AirSimLink, thread: ThreadPoolExecutor) -> EngineFacts:
    def at_once(job: Any) -> Any:
        return thread.submit(job).result(timeout=Deadlines().airsim_s)

    for _ in range(_RUN_UP):
        world.tick(captured=True)
    before = world.now()
    for _ in range(_PAUSED):
        world.tick(captured=True)
    car_moves_m, _ = largest_move_m(before, world.now())
    at_once(lambda: link.client.simPause(True))
    pending_call: Future[Any] = thread.submit(lambda: link.client.simListSceneObjects("uavsim-asks-for-nothing"))
    returned = not wait([pending_call], timeout=_PATIENCE_S).not_done
    held = state = _next_state(world)  # this snapshot has the Traffic Manager's teleports after the last tick
    for _ in range(_PAUSED):
        if state is not None:
            state = _next_state(world)
    returned_late = not wait([pending_call], timeout=_PATIENCE_S).not_done
    facts = EngineFacts(
        returns_without_tick=returned,
        returns_within_ticks=returned_late,
        car_moves_m=car_moves_m,
        paused_moves_m=largest_move_m(held, state)[0] if held and state else None,
    )
    if not returned_late:
        raise SimulatorError("an AirSim call did not return after ticks under simPause")
    return facts


def _next_state(world: CarlaWorld) -> TickState | None:
    last_frame = world.now().frame
    world.cue()
    return world.newer_than(last_frame, timeout_s=_PATIENCE_S)


def main() -> None:
    """``python -m uavsim.probing.engine --carla ... --airsim ... --plan FILE`` prints the facts as JSON."""
    parser = argparse.ArgumentParser(prog="uavsim-merged-measure")
    parser.add_argument("--carla", required=True)
    parser.add_argument("--airsim", required=True)
    parser.add_argument("--plan", type=Path, required=True)
    options = parser.parse_args()
    answer_in_one_line(
        lambda: {
            "facts": asdict(
                measure_engine(
                    unpack_plan(options.plan.read_bytes()),
                    Endpoint.parse(options.carla, what="--carla"),
                    Endpoint.parse(options.airsim, what="--airsim"),
                )
            )
        }
    )


if __name__ == "__main__":
    main()
