"""Guard a worker against a flow's parameters: any user of a shared server may have written them.

Parameters may name datasets of the worker's library and simulators of its configuration only. Commands, container images and
program paths come from the run YAML on the worker's machine (``UAVSIM_WORKER_RUN``).
"""

import os
from typing import Final, TypeVar

from uavsim.config.library import Library
from uavsim.config.run import RunConfig, SimulatorConfig
from uavsim.errors import InputError
from uavsim.registry import pick
from uavsim.run.request import OutputRequest, Request

__all__ = ["WORKER_RUN", "of_worker"]

WORKER_RUN: Final = "UAVSIM_WORKER_RUN"
R = TypeVar("R", bound=OutputRequest)
_NAMES: Final = ("dataset", "formation", "rig", "weather")


def of_worker(request: R) -> R:
    """Return the request with the worker's configuration of its simulators.

    Raises:
        InputError: the request has a configuration, a path, or an unknown simulator.
    """
    if request.run is not None:
        raise InputError(
            "run: a flow's parameters may not carry a run's configuration (it holds commands and images); put it into a "
            f"YAML file on the worker's machine and name that in its environment as {WORKER_RUN}"
        )
    for key in _NAMES:
        value = getattr(request, key, None)
        if isinstance(value, str) and ("/" in value or value.endswith((".yaml", ".yml"))):
            raise InputError(f"{key} {value!a}: a flow's parameter must be a name in the worker's library, not a file")
    named = os.environ.get(WORKER_RUN)
    config = Library.of().run(named).model if named else RunConfig()
    if isinstance(request, Request) and request.simulators:
        known = {"mock": SimulatorConfig()} | {s.name: s for s in config.simulators if s.name}
        chosen = tuple(
            pick(known, name, what=f"simulator of this worker ({WORKER_RUN})") for name in request.simulators
        )
        config = config.model_copy(update={"simulators": chosen})
        return request.model_copy(update={"run": config, "simulators": ()})
    return request.model_copy(update={"run": config})
