"""Write corrected copies of the types in CARLA's wheel to mypy's path.

    python -m tools.quality.carla_types

The wheel has ``libcarla.pyi`` and no ``py.typed``, so that every client, world and actor would be ``Any``. The copy lies in
``.typings/carla``, which git ignores; each correction has its reason, and an inapplicable one ends the program.
"""

import importlib.util
import sys
from pathlib import Path
from typing import Final

TARGET: Final = Path(__file__).resolve().parents[2] / ".typings" / "carla"

CORRECTIONS: Final = {
    "libcarla.pyi": (
        ("    TypeVar,\n    Union,", "    Union,"),  # imported twice, the second time from typing_extensions
        (
            'def rotation(self) -> Rotation:\n        """The orientation of the bounding box."""',
            "def rotation(self) -> Rotation: ...\n    @rotation.setter\n    def rotation(self, value: Rotation) -> None: ...",
        ),
        (
            "    def set_simulate_physics(self, enabled: bool = True):",
            "    def set_collisions(self, enabled: bool) -> None: ...\n"
            "    def set_simulate_physics(self, enabled: bool = True) -> None:",
        ),
        (
            "default=Actor, infer_variance=True",
            "default=Actor",
        ),  # unknown to mypy
    ),
    "command.pyi": (
        ("actor: Actor | int", "actor: Actor | int | type[FutureActor]"),  # the actor of commands after a SpawnActor
        ("def then(self, command: _IsCommand) -> _IsCommand:", "def then(self, command: _IsCommand) -> SpawnActor:"),
        ("light_state: VehicleLightState) -> None", "light_state: VehicleLightState | int) -> None"),  # a set of bits
        ("    VehiclePhysicsControl,\n)", "    VehiclePhysicsControl,\n    WalkerControl,\n)"),
        ('VehiclePhysicsControl:\n        """Walker control', 'WalkerControl:\n        """Walker control'),
        (
            'VehicleControl) -> None:\n        """Applies a control to a walker',
            'WalkerControl) -> None:\n        """Applies a',
        ),
    ),
}


def main() -> int:
    """Write the copy; returns 1 if a correction does not apply."""
    found = importlib.util.find_spec("carla")
    if found is None or found.origin is None:
        sys.stderr.write("carla is not installed: scripts/setup\n")
        return 1
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, corrections in CORRECTIONS.items():
        text = Path(found.origin).with_name(name).read_text("utf-8")
        for wrong, right in corrections:
            if wrong not in text:
                sys.stderr.write(f"{name} has no {wrong!r} any more: take the correction out of {__file__}\n")
                return 1
            text = text.replace(wrong, right)
        _write(TARGET / name, text)
    _write(TARGET / "__init__.pyi", "from . import command as command\nfrom .libcarla import *\n")
    return 0


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text("utf-8") != text:  # mypy rereads a written file
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    sys.exit(main())
