"""Measure what a merged simulator does in synchronous mode and under ``simPause``: what ``uavsim doctor`` asks of it.

Nothing is assumed of the build. A plan's traffic drives, the game is paused, and it is looked at what a call of AirSim's and a
tick do then. The process is killed from outside if it hangs.
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

__all__ = ["measure_engine"]

_RUN_UP: Final = 40  # ticks in which the traffic comes to speed
_PAUSED: Final = 5
_PATIENCE_S: Final = 1.5


def measure_engine(plan: ScenePlan, carla: Endpoint, airsim: Endpoint) -> EngineFacts:
    """Measure a merged simulator that runs, with the traffic of a plan; what was spawned is removed again.

    Raises:
        SimulatorError: it is no merged simulator, or it does not answer.
    """
    world = CarlaWorld(carla.host, carla.port)
    thread = ThreadPoolExecutor(1, thread_name_prefix="airsim")  # a client lives in one thread
    link: AirSimLink = thread.submit(lambda: AirSimLink(airsim.host, airsim.port)).result()
    try:
        world.prepare(plan, heartbeat=_unheard)
        world.populate(plan, heartbeat=_unheard)
        return _measured(world, link, thread)
    finally:
        thread.submit(lambda: link.client.simPause(False)).result()
        world.close()


def _unheard(_phase: str, _n: int) -> None:
    """Report nothing: whoever started this process waits for its one line."""


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
    clock_ns = at_once(lambda: link.client.getMultirotorState(link.vehicles[0]).timestamp)
    asked: Future[Any] = thread.submit(lambda: link.client.simListSceneObjects("uavsim-asks-for-nothing"))
    returned = not wait([asked], timeout=_PATIENCE_S).not_done
    held = state = _passed(world)  # what the Traffic Manager teleported after the last tick shows in this one
    for _ in range(_PAUSED):
        if state is not None:
            state = _passed(world)
    late = not wait([asked], timeout=_PATIENCE_S).not_done
    facts = EngineFacts(
        returns_without_tick=returned,
        returns_within_ticks=late,
        car_moves_m=car_moves_m,
        paused_moves_m=largest_move_m(held, state)[0] if held and state else None,
        paused_clock_s=state.elapsed_s - held.elapsed_s if held and state else 0.0,
        airsim_clock_s=(at_once(lambda: link.client.getMultirotorState(link.vehicles[0]).timestamp) - clock_ns) / 1e9
        if late
        else 0.0,
    )
    if not late:
        raise SimulatorError(
            "a call of AirSim's did not return within ticks under simPause; topology merged is refused"
        )
    return facts


def _passed(world: CarlaWorld) -> TickState | None:
    seen = world.now().frame
    world.cue()
    return world.newer_than(seen, timeout_s=_PATIENCE_S)


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
