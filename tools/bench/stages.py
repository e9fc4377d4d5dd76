"""The simulator's processor time by stage: ticks with 200 Traffic Manager cars and the swarm's images, in three towns.

The simulator counts by itself (``--stage-times``): the official client and its Traffic Manager drive it as in a run.
"""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tools.bench.live import VEHICLES, load
from tools.bench.rows import Row, simulator

TOWNS: Final = ("Town10HD", "Town03", "Town07")
TICKS: Final = 200
CAPTURES: Final = 8  # ticks with 25 RGB and 25 instance images of 800x450


def rows() -> Iterator[Row]:
    """Processor milliseconds a tick and a pair of images, whole and by stage."""
    for town in TOWNS:
        for what, count, per in (("ticks", TICKS, "tick"), ("images", CAPTURES, "pair")):
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "stages"
                with simulator("--town", town, "--stage-times", str(file)) as running:
                    reported = load(running, what, count, stages=file)
                stages: dict[str, tuple[float, int]] = json.loads(file.read_text("utf-8").splitlines()[-1])
            runs = count if what == "ticks" else reported["images"] / 2
            how = f"{town}, {reported['vehicles']} of {VEHICLES} Traffic Manager cars, {count} ticks"
            yield Row(f"{town}_server_cpu_ms_per_{per}", 1e3 * reported["server_cpu_s"] / runs, "ms", how)
            for stage, (spent_ms, times) in sorted(stages.items(), key=lambda item: -item[1][0]):
                yield Row(f"{town}_{per}_{stage.replace(' ', '_')}", spent_ms / runs, "ms", f"{times} times, {how}")
