"""The README's examples run unchanged except for the ports."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from headless_simulator.testing import RunningSimulator

README = Path(__file__).parents[1] / "README.md"
*EXAMPLES, TEST = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), flags=re.S)
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)(?:#[^)]*)?\)")


@pytest.mark.release
@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_readme_example_writes_its_image(simulator: RunningSimulator, tmp_path: Path, number: int) -> None:
    carla, airsim = (address.rpartition(":")[2] for address in (simulator.carla, simulator.airsim))
    code = EXAMPLES[number].replace("2000", carla).replace("41451", airsim)
    assert code != EXAMPLES[number], "the ports were found"
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=240)

    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    assert (tmp_path / "first.png").stat().st_size > 1000


def test_readme_pytest_example_passes(tmp_path: Path) -> None:
    (tmp_path / "test_example.py").write_text(TEST)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_example.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert ran.returncode == 0, ran.stdout


def test_readme_has_an_example_per_port() -> None:
    assert len(EXAMPLES) == 2


@pytest.mark.parametrize("page", [README, *sorted((README.parent / "docs").glob("*.md"))], ids=lambda page: page.name)
def test_links_resolve_and_pages_are_short(page: Path) -> None:
    text = page.read_text("utf-8")

    assert not [target for target in LINK.findall(text) if not (page.parent / target).exists()]
    assert len(text.split()) <= 1200
