"""AirSim's calls that need Unreal's game thread, and their scheduling on it.

The names are those whose implementation goes through ``UAirBlueprintLib::RunCommandOnGameThread`` with ``wait`` set, or
asks the viewport for its next frame (AirSim at commit 1344870: ``WorldSimApi.cpp``, ``PawnSimApi.cpp``,
``SimModeBase.cpp``, ``RenderRequest.cpp``). All others are answered by AirSim's RPC threads between two ticks as well.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from headless_simulator.world.game_thread import GameThread, Part

IMAGES: Final = frozenset(("simGetImages", "simGetImage"))
SCENE: Final = frozenset(
    (
        "listVehicles", "reset", "simAddDetectionFilterMeshName", "simAddVehicle", "simClearDetectionMeshNames",
        "simDestroyObject", "simEnableWeather", "simFlushPersistentMarkers", "simGetCameraInfo", "simGetDetections",
        "simGetDistortionParams", "simGetMeshPositionVertexBuffers", "simGetObjectPose", "simGetObjectScale",
        "simGetSegmentationObjectID", "simGetWorldExtents", "simListSceneObjects", "simLoadLevel", "simPlotArrows",
        "simPlotLineList", "simPlotLineStrip", "simPlotPoints", "simPlotStrings", "simPlotTransforms",
        "simPlotTransformsWithNames", "simRunConsoleCommand", "simSetCameraFov", "simSetCameraPose",
        "simSetDetectionFilterRadius", "simSetDistortionParam", "simSetLightIntensity", "simSetObjectMaterial",
        "simSetObjectMaterialFromTexture", "simSetObjectPose", "simSetObjectScale", "simSetSegmentationObjectID",
        "simSetVehiclePose", "simSetWeatherParameter", "simSpawnObject", "simSwapTextures",
        "simTestLineOfSightBetweenPoints", "simTestLineOfSightToPoint",
    )
)  # fmt: skip
_CONTINUES: Final = frozenset(("simContinueForTime", "simContinueForFrames"))


class EngineTurns:
    """Runs AirSim's calls on the game thread, and reports pauses to it.

    Args:
        game_thread: game thread of the shared world.
    """

    def __init__(self, game_thread: GameThread) -> None:
        self._game_thread = game_thread

    def run(self, name: str, act: Callable[[], Any], *, late_frames: int = 0) -> Any:
        """Run a call on the thread on which AirSim runs it.

        Args:
            name: method name.
            act: executes the call.
            late_frames: frames that an injected fault delays it by.
        """
        part: Part | None = "image" if name in IMAGES else "scene" if name in SCENE else None
        if part is None:
            return act()
        return self._game_thread.run(act, part=part, late_frames=late_frames)

    def served(self, name: str, arguments: Sequence[Any]) -> None:
        """Report a call that ran or has begun, because AirSim's pause also pauses the game."""
        if name == "simPause":
            self._game_thread.pause(bool(arguments[0]))
        elif name in _CONTINUES:
            self._game_thread.pause(False)

    def ended(self, name: str) -> None:
        """Report the end of a long-running call."""
        if name in _CONTINUES:
            self._game_thread.pause(True)

    def leak(self, ticks: int) -> None:
        """Let ticks pass in spite of a pause, as an injected fault."""
        self._game_thread.leaks += ticks
