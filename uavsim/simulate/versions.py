"""Versions of CARLA that people have, and what of a dataset each of them cannot give; pure."""

from typing import Final

from uavsim.environment import pip_install
from uavsim.errors import SimulatorError

CLIENT_VERSION: Final = "0.9.16"
_MISSING: Final = {  # by the start of the version
    "0.9.15": "boxes without actor ids, instance masks with Unreal's own ids, camera poses that cannot be relied on",
    "0.10": "boxes without actor ids, no light manager, weather that cannot be changed, smeared semantic masks, and none of "
    "the towns but Town10HD_Opt",
}


def refuse_other_server(version: str, *, where: str) -> None:
    """Raise ``SimulatorError`` unless a server is of the version that the client speaks."""
    if version.split("-")[0] != CLIENT_VERSION:
        raise SimulatorError(
            f"the server at {where} is CARLA {version}, the client speaks {CLIENT_VERSION}{_would_be(version)}; "
            f"start carlasim/carla:{CLIENT_VERSION}"
        )


def refuse_other_client(version: str, *, python: str) -> None:
    """Raise ``SimulatorError`` unless the client library is of the version that uavsim is written for."""
    if version.split("-")[0] != CLIENT_VERSION:
        raise SimulatorError(
            f"the module carla of {python} is {version}, uavsim needs {CLIENT_VERSION}{_would_be(version)}; "
            f"{pip_install(python)} carla=={CLIENT_VERSION}"
        )


def _would_be(version: str) -> str:
    missing = next((text for start, text in _MISSING.items() if f"{version}.".startswith(f"{start}.")), "")
    return f" ({version} would give {missing})" if missing else ""
