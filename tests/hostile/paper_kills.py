"""Kill runs whose scenes are drawn by the client process of ``tests/flows``: most kills strike labelling and commit.

    scripts/trial paper-kills [--kills 100] [--seed 0] [--scenes 6] [--work FOLDER] [--own-server]

Quick, because nothing is simulated; all else is as in ``scripts/trial kill``.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests import rpc_ports
from tests.run.conftest import FAKE_CLIENT_WORKER, paper_job
from tools.trials import kill
from uavsim.run import context
from uavsim.run.job import Job
from uavsim.run.request import Request
from uavsim.simulate.versions import CLIENT_VERSION
from uavsim.supervise.simulator_slot import SimulatorSlot


@contextmanager
def paper_world(work: Path) -> Iterator[str]:
    """Let runs that are forked from here fly with the tests' client process; gives a port that answers as CARLA does."""
    faults = work / "no-faults.json"
    faults.write_text("{}")

    def resolve(request: Request) -> Job:
        count = len((request.scenes or "").split(","))
        return paper_job(request.model_copy(update={"scenes": str(count)}))

    def command(**_: object) -> list[str]:
        return [sys.executable, str(FAKE_CLIENT_WORKER), str(faults)]

    replaced = {"resolve": resolve, "SimulatorSlot": partial(SimulatorSlot, command=command)}
    for name, value in replaced.items():
        setattr(context, name, value)  # for the children that are forked from here; this process ends with the trial
    with rpc_ports.listening(rpc_ports.rpc(version=[[1, CLIENT_VERSION]])) as where:
        yield f"127.0.0.1:{where.port}"


def main() -> int:
    """Run the trial."""
    return kill.main(paper_world)
