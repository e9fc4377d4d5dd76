"""``startRecording``: AirSim's airsim_rec.txt with one line per vehicle and interval, in a new folder."""

import threading
import time
from pathlib import Path
from typing import Final, TextIO

from headless_simulator.airsim.fleet import Fleet
from headless_simulator.airsim.settings import AirSimSettings
from headless_simulator.errors import CallRefused

COLUMNS: Final = ("VehicleName", "TimeStamp", "POS_X", "POS_Y", "POS_Z", "Q_W", "Q_X", "Q_Y", "Q_Z", "ImageFile")
MIN_INTERVAL_S: Final = 0.01


_HEAD: Final = "\t".join(COLUMNS) + "\n"


class RecordingError(CallRefused):
    """Recording cannot begin."""


def _opened(folder: Path) -> TextIO:
    """Open a recording in a new folder named by the current second, as in AirSim.

    Raises:
        OSError: the file cannot be opened, or the folder exists.
    """
    recording_folder = folder / time.strftime("%Y-%m-%d-%H-%M-%S")
    recording_folder.mkdir(parents=True, exist_ok=True)
    return (recording_folder / "airsim_rec.txt").open("x", encoding="utf-8")


class Recorder:
    """Writes the poses of all vehicles while recording; images are not recorded."""

    def __init__(self, fleet: Fleet, settings: AirSimSettings) -> None:
        self._fleet, self._settings = fleet, settings
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def on(self) -> bool:
        """True while poses are recorded."""
        return self._thread is not None

    def start(self) -> None:
        """Start recording; a second start has no effect.

        Raises:
            RecordingError: the folder cannot be written.
        """
        if self._thread is not None:
            return
        folder = Path(self._settings.recording_folder or Path.home() / "Documents" / "AirSim")
        try:
            out = _opened(folder)
        except OSError as error:
            raise RecordingError(f"cannot record into {folder}: {error.strerror}") from error
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, args=(out,), name="airsim-recording", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop recording and close the file."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._stop.set()
            thread.join()

    def _run(self, out: TextIO) -> None:
        with out:
            out.write(_HEAD)
            interval_s = max(self._settings.recording_interval_s, MIN_INTERVAL_S)
            while True:
                out.writelines(self._lines())
                if self._stop.wait(interval_s):
                    return

    def _lines(self) -> list[str]:
        fleet = self._fleet
        with fleet.lock:
            rows = [
                (drone.name, drone.now_ns // 1_000_000, *drone.position_m, *drone.quat, "")
                for drone in fleet.drones.values()
            ]
        return ["\t".join(str(cell) for cell in row) + "\n" for row in rows]
