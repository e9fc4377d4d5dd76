"""All documented and printed install commands work in a bare environment of a clone with its built wheels."""

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import uavsim
from tests.wheel_index import index_of
from uavsim import environment
from uavsim.config.backends import AIRSIM, CARLA, COSYS

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.timeout(1200)  # some twenty environments, each made by pip
ENVIRONMENTS = (".venv", ".venv-judge", ".venv-readers", ".venv-cosys")
SEPARATE = {"carla-0-9-15": ".venv-carla-0.9.15", "fiftyone": ".venv-fiftyone"}
PAGES = [
    path
    for pattern in ("*.md", "docs/*.md", "packages/*/README.md", "packages/*/docs/*.md", ".github/**/*.yml")
    for path in sorted(ROOT.glob(pattern))
    if path.name not in {"CHANGELOG.md", "SECURITY.md"}
]
SHELL = re.compile(r"^```(?:sh|bash|yaml)\n(.*?)^```", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`((?:uv )?pip install [^`]+)`")
INSTALLS = re.compile(r"^(?:- )?(?:run: )?((?:uv )?pip (?:install|wheel) .*?)(?:\s+#.*)?$")
MADE_UP = "papersim"  # the client of a backend that how-to-add-a-backend.md makes up
EXTRAS = ("lanelet2", "plots", "publish", "ros", "s3", "streams", "video", "viewer")


def lines_of(text: str) -> set[str]:
    found = set(CODE.findall(text))
    blocks = [*SHELL.findall(text), *([text] if text.lstrip().startswith("name:") else [])]
    for line in "".join(blocks).replace("\\\n", " ").splitlines():
        found |= set(INSTALLS.findall(line.strip()))
    return {line for line in found if MADE_UP not in line and "$" not in line}


def hints() -> set[str]:
    """Return the install commands in messages, for an environment installed from wheels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(environment, "__file__", "/usr/lib/python3/site-packages/uavsim/environment.py")
        patch.setattr(environment, "pip_install", lambda: "pip install")
        lines = {environment.install_line(extra) for extra in EXTRAS}
    clients = {server.install.replace("{pip}", "pip install") for server in (CARLA, AIRSIM)}
    return lines | clients | {COSYS.install.partition("uavsim, ")[2].partition(",")[0]}


def needed_by(distribution: str, *extras: str) -> set[str]:
    """Return a distribution and its dependencies in this environment by installed metadata."""
    found: set[str] = set()
    waiting = [(distribution, extra) for extra in ("", *extras)]
    while waiting:
        name, extra = waiting.pop()
        found.add(name)
        for line in metadata.requires(name) or ():
            needed = Requirement(line)
            name_of_it = canonicalize_name(needed.name)
            if name_of_it not in found and (needed.marker is None or needed.marker.evaluate({"extra": extra})):
                waiting += [(name_of_it, extra) for extra in ("", *needed.extras)]
    return found


@cache
def printed() -> list[str]:
    found = set(hints())
    for page in PAGES:
        found |= lines_of(page.read_text("utf-8"))
    cells = json.loads((ROOT / "docs/look-at-a-dataset.ipynb").read_text("utf-8"))["cells"]
    return sorted(found | lines_of("".join("".join(cell["source"]) for cell in cells)))


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a clone with built wheels in dist, and an index beside it."""
    if missing := [name for name in ENVIRONMENTS if not (ROOT / name).exists()]:
        pytest.skip(f"no {', '.join(missing)} here; scripts/setup --readers makes them")
    work = tmp_path_factory.mktemp("install")
    names = ("uavsim", "packages", "flight_plans", "town_configs", "pyproject.toml", "README.md", "LICENSE", "uv.lock")
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *names]
    for name in subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (work / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, work / "clone" / name)
    made = (*ENVIRONMENTS, *(name for name in SEPARATE.values() if (ROOT / name).exists()))
    index_of([next((ROOT / name).glob("lib/python3*/site-packages")) for name in made], work / "index")
    subprocess.run(
        [sys.executable, "-m", "venv", str(work / "bare")], check=True
    )  # it contains paths, so it returns to its place
    (work / "bare").rename(work / "seed")
    run(
        "pip wheel --no-deps -w dist . ./packages/headless_simulator ./packages/benchmarks",
        work / "clone",
    )
    return work / "clone"


def run(line: str, clone: Path) -> Path:
    """Run a line in a new bare environment; returns its interpreter."""
    bare = clone.parent / "bare"
    shutil.rmtree(bare, ignore_errors=True)
    shutil.copytree(clone.parent / "seed", bare, symlinks=True)
    index = str(clone.parent / "index")
    surroundings = {
        "PATH": f"{bare}/bin:{os.environ['PATH']}:{ROOT}/.uv/bin",
        "HOME": str(clone.parent),
        "VIRTUAL_ENV": str(bare),
        "PIP_NO_COMPILE": "0",  # pip's option: no byte code of temporary environments
        **{"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": index, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1"},
        **{"UV_NO_INDEX": "1", "UV_FIND_LINKS": index, "UV_NO_CACHE": "1", "UV_OFFLINE": "1"},
    }
    shell = ["bash", "-euc", line]
    done = subprocess.run(shell, cwd=clone, env=surroundings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{line}\n{done.stderr[-2000:]}"
    return bare / "bin/python"


def has_uv() -> bool:
    return shutil.which("uv", path=f"{os.environ['PATH']}:{ROOT}/.uv/bin") is not None


@pytest.mark.release
@pytest.mark.parametrize("line", printed())
def test_a_printed_line_works(line: str, clone: Path) -> None:
    if line.startswith("uv ") and not has_uv():
        pytest.skip("no uv here")
    if missing := [made for name, made in SEPARATE.items() if name in line and not (ROOT / made).exists()]:
        pytest.skip(f"no {missing[0]} here; scripts/setup makes it")
    python = run(line, clone)
    listed = "import importlib.metadata as m; print(*(d.metadata['Name'] for d in m.distributions()))"
    installed = subprocess.run([python, "-c", listed], check=True, capture_output=True, text=True).stdout.split()
    assert "uavsim" not in installed, "somebody else's"
    if "uavsim-datagen" in installed:
        code = "import uavsim; print(uavsim.__file__, uavsim.__distribution__)"
        words = subprocess.run([python, "-P", "-c", code], check=True, capture_output=True, text=True, cwd="/").stdout
        assert words.split()[1] == "uavsim-datagen"
        assert Path(words.split()[0]).is_relative_to(python.parents[1])


def test_lines_are_found() -> None:
    assert len(printed()) >= 12
    assert lines_of("```sh\npip install 'uavsim[viewer]'   # a window\n```") == {"pip install 'uavsim[viewer]'"}


def test_no_install_line_names_the_other_uavsim() -> None:
    words = {
        re.split(r"[\[=<>]", word)[0] for line in printed() for word in shlex.split(line.partition(" --override")[0])
    }
    assert "uavsim" not in words


@pytest.mark.parametrize(
    ("extra", "package"),
    [("viewer", "'rerun-sdk>="), ("plots", "'matplotlib>="), ("publish", "'pyarrow>="), ("s3", "'s3fs>=")],
)
def test_a_hint_names_the_packages_of_an_extra(extra: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert environment.install_line(extra) == f"{ROOT}/scripts/setup ours"
    monkeypatch.setattr(environment, "__file__", "/usr/lib/python3/site-packages/uavsim/environment.py")
    assert " install " in environment.install_line(extra)
    assert package in environment.install_line(extra)


@pytest.mark.release
def test_a_hint_works_in_an_environment_without_pip(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_uv():
        pytest.skip("no uv here")
    monkeypatch.setattr(environment, "__file__", "/usr/lib/python3/site-packages/uavsim/environment.py")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pip" else object())
    monkeypatch.setattr(sys, "executable", str(clone.parent / "bare/bin/python"))
    python = run(environment.install_line("streams"), clone)
    subprocess.run([python, "-c", "import importlib.metadata as m; m.version('pyarrow')"], check=True)


def test_a_demo_needs_as_many_packages_and_bytes_as_the_pages_say() -> None:
    assert "--no-default-groups $bytecode" in (ROOT / "scripts/setup").read_text("utf-8")  # a demo needs no extra
    names = needed_by("uavsim-datagen")
    files = [
        Path(str(f.locate())) for name in names for f in metadata.files(name) or () if "__pycache__" not in f.parts
    ]
    total_mb = sum(file.stat().st_size for file in files if file.is_file()) / 1e6
    for page in ("README.md", "docs/install.md"):
        (said,) = re.findall(r"(\d+) packages, (\d+) MB", (ROOT / page).read_text("utf-8"))
        assert int(said[0]) + (sys.version_info < (3, 11, 3)) == len(names), page  # async-timeout, as install.md says
        assert int(said[1]) == pytest.approx(total_mb, rel=0.02), page


def test_a_demo_leaves_an_environment_that_holds_more_alone() -> None:
    sources = re.findall(r"fresh \.venv (.*) && return", (ROOT / "scripts/setup").read_text("utf-8"))
    assert len(sources) == 2  # of demo and ours: the stamp of one is known to the other
    assert sources[0] == sources[1]


def test_another_package_with_the_same_name_is_refused(tmp_path: Path) -> None:
    shutil.copytree(Path(uavsim.__file__).parent, tmp_path / "uavsim", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "uavsim/__init__.py").write_text("")
    command = [sys.executable, "-P", "-m", "uavsim", "--version"]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "another package named 'uavsim'" in done.stderr
    assert len(done.stderr.splitlines()) == 1
