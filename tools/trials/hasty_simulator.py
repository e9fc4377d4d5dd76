"""The headless simulator without the pause that keeps libcarla's Traffic Manager from losing a wake-up.

``python -m tools.trials.hasty_simulator ARGUMENTS``, as ``python -m headless_simulator``.
"""

from headless_simulator.carla.connection import CarlaConnection
from headless_simulator.cli import main


def _let_nobody_wait(_: CarlaConnection) -> None:
    return


if __name__ == "__main__":
    setattr(CarlaConnection, "_let_worker_wait", _let_nobody_wait)  # noqa: B010 (to a type checker a method is a constant)
    main()
