"""The least that a sample's stages could cost on this machine: ``scripts/bench --only roofline``; see docs/roofline.md.

``python -m tools.bench.roofline PORT`` takes one capture from a simulator, 25 images and their masks, and does one thing at a
time with it, in one thread: moves its bytes within memory and through a socket of this machine, encodes, inflates, writes.
"""

import argparse
import json
import os
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from tools.bench.frames import SIZE_PX, keep, plan_of
from tools.bench.rows import AS_CLIENT, Row, in_own_process, simulator
from uavsim.images.png import filtered_rows
from uavsim.records.modalities import modality

__all__ = ["rows"]

TURNS: Final = 7
PAIRS: Final = 25
SENT: Final = (
    2 * PAIRS * SIZE_PX[0] * SIZE_PX[1] * 4
)  # bytes of a capture as libcarla receives them: BGRA, image and mask
_PIECE: Final = 1 << 20


def rows() -> Iterator[Row]:
    """Processor milliseconds of a sample's bytes, one thing at a time."""
    with simulator("--town", "Town10HD", "--no-airsim") as running:
        reported = in_own_process("roofline", str(running.port), variables=AS_CLIENT)
    how = f"{PAIRS} images and masks of 800x450 from Town10HD, one thread, median of {TURNS} turns"
    for name, value in reported.items():
        unit = name.rpartition("_")[2]
        yield Row(f"roofline_{name}", value, unit, how)


def main() -> None:
    """Take a capture and measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    options = parser.parse_args()
    sys.stdout.write(json.dumps(measured(options.port)) + "\n")
    sys.stdout.flush()
    os._exit(0)  # libcarla's threads may hang in destructors


def measured(port: int) -> dict[str, float]:
    """Return processor milliseconds by name, and sizes in megabytes."""
    plan = plan_of(1)
    kept = keep(port, 1)
    [captures] = kept.captures(plan)
    raw = [np.ascontiguousarray(reading.data[..., :3]) for reading in kept.frames[0].readings]
    values = [(modality(name), value) for capture in captures for name, value in capture.data.items()]
    colours = [value for kind, value in values if kind.name == "rgb"]
    files = [kind.encode(value, plan.images) for kind, value in values]
    source, target = np.ones(SENT, np.uint8), np.ones(SENT, np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        ways: dict[str, Callable[[], object]] = {
            "copy_ms": lambda: np.copyto(target, source),
            "socket_ms": lambda: _through_a_socket(source.data, target.data),
            "encode_ms": lambda: [kind.encode(value, plan.images) for kind, value in values],
            "encode_images_alone_ms": lambda: [modality("rgb").encode(value, plan.images) for value in colours],
            "opencv_ms": lambda: [cv2.imencode(".png", value, (cv2.IMWRITE_PNG_COMPRESSION, 1)) for value in raw],
            "inflate_ms": lambda: [filtered_rows(data) for data in files],
            "write_ms": lambda: [Path(folder, str(n)).write_bytes(data) for n, data in enumerate(files)],
        }
        times: dict[str, float] = {name: _median_ms(way) for name, way in ways.items()}
    return times | {"sent_MB": SENT / 1e6, "files_MB": sum(map(len, files)) / 1e6}


def _median_ms(way: Callable[[], object]) -> float:
    spent = []
    for _ in range(TURNS + 1):
        began = time.process_time()
        way()
        spent.append(1e3 * (time.process_time() - began))
    return statistics.median(spent[1:])


def _through_a_socket(source: memoryview, target: memoryview) -> None:
    """Send bytes from one thread to another; the processor time of both is this process's."""
    here, there = socket.socketpair()
    with here, there:
        sender = threading.Thread(target=here.sendall, args=(source,))
        sender.start()
        at = 0
        while at < len(target):
            at += there.recv_into(target[at : at + _PIECE])
        sender.join()


if __name__ == "__main__":
    main()
