"""Memory that an image used is used again without the system's help."""

import subprocess
import sys

import pytest

IMAGES = """
import resource, sys
import numpy as np
from headless_simulator.memory import keep_freed_memory

if sys.argv[1] == "kept":
    keep_freed_memory()

def pages():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    images = [np.ones((450, 800, 4), np.uint8) for _ in range(6)]
    del images
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print([pages() for _ in range(10)][-1])
"""


@pytest.mark.skipif("glibc" not in " ".join(__import__("platform").libc_ver()), reason="glibc's own settings")
def test_images_of_the_next_tick_ask_the_system_for_no_page() -> None:
    def pages(how: str) -> int:
        return int(subprocess.run([sys.executable, "-c", IMAGES, how], capture_output=True, check=True).stdout)

    assert pages("kept") < 100 < 1000 < pages("given back")


BATCH = """
import gc
from headless_simulator.memory import collect_seldom
collect_seldom()
runs = []
gc.callbacks.append(lambda phase, _: runs.append(phase))
batch = [[] for _ in range(5_000)]
print(len(runs), gc.get_freeze_count() > 1000)
"""


def test_a_batch_of_controls_waits_for_no_search_for_circles() -> None:
    assert subprocess.run([sys.executable, "-c", BATCH], capture_output=True, check=True).stdout.split() == [
        b"0",
        b"True",
    ]
