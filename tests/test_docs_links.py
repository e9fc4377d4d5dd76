"""Links in the pages lead to existing files and headings, and mentioned files exist."""

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SIMULATOR = ROOT / "packages/headless_simulator"
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / ".decisions").glob("*.md"),
        *SIMULATOR.glob("*.md"),
        *(SIMULATOR / "docs").glob("*.md"),
        *(SIMULATOR / ".decisions").glob("*.md"),
        *ROOT.glob("packages/b*/*.md"),
        *ROOT.glob("packages/b*/docs/*.md"),
    ]
)
ABOUT_THE_PAST = {"CHANGELOG.md"}  # a changelog names removed files
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", flags=re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"[\w.-]+(?:/[\w.-]+)*/[\w.-]+\.(?:py|md|yaml|yml|toml|json|sh)")
"""A path with a folder and one of our suffixes; ``<scene>.json``, ``*.yaml`` and bare names are patterns, not files."""
SCRIPT = re.compile(r"(?:^|\s)(scripts/\w+)")
FOREIGN = {  # files of UAV3D, AirSim, OccuFly and the nuScenes devkit
    "visualization/functions.py",
    "docs/apis.md",
    "docs/dataset_notes.md",
    "docs/image_apis.md",
    "docs/settings.md",
    "docs/lidar.md",
    "docs/schema_nuscenes.md",
}
EXAMPLES = {  # files that a page tells its reader to write
    "flight_plans/encounters/crossing.yaml",
    "flight_plans/formations/arrow.yaml",
    "flight_plans/weather/murky.yaml",
    "flight_plans/rigs/pair.yaml",
    "flight_plans/rigs/scanner.yaml",
    "flight_plans/weather/red_dusk.yaml",
    "flight_plans/rigs/stereo.yaml",
    "flight_plans/datasets/mine.yaml",
    "flight_plans/runs/carla.yaml",
    *(f"ground_drones/{name}.py" for name in ("__init__", "plan", "carla_side", "tables")),
}


def _prose(page: Path) -> str:
    return FENCE.sub("", page.read_text("utf-8"))


@cache
def _anchors(page: Path) -> set[str]:
    """Return the fragments that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", _prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links(page: Path) -> list[str]:
    dead = []
    for target in LINK.findall(_prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists() or (anchor and anchor not in _anchors(path)):
            dead.append(target)
    return dead


def lost_files(page: Path) -> list[str]:
    """Return missing paths in code marks.

    A path may be given from the root, from a package's folder, or from the simulator's.
    """
    homes = [page.parent, ROOT, ROOT / "uavsim", ROOT / "flight_plans", SIMULATOR, SIMULATOR / "src/headless_simulator"]
    text = " ".join(CODE.findall(_prose(page)))
    named = {word for word in text.split() if FILE.fullmatch(word)}
    named |= set(SCRIPT.findall(page.read_text("utf-8")))
    return sorted(word for word in named - EXAMPLES - FOREIGN if not any((home / word).exists() for home in homes))


def wrong_of(find: Callable[[Path], list[str]], files: Iterable[Path]) -> dict[str, list[str]]:
    """Return the faults in files by path."""
    return {str(file.relative_to(ROOT)): wrong for file in files if (wrong := find(file))}


def test_links_lead_somewhere() -> None:
    assert wrong_of(dead_links, PAGES) == {}


def test_files_that_a_page_names_exist() -> None:
    assert wrong_of(lost_files, [page for page in PAGES if page.name not in ABOUT_THE_PAST]) == {}


def test_every_page_of_docs_is_linked_from_another() -> None:
    linked = {
        (page.parent / target.partition("#")[0]).resolve()
        for page in PAGES
        for target in LINK.findall(_prose(page))
        if not re.match(r"[a-z]+:", target) and target.partition("#")[0]
    }
    assert [str(p) for p in (ROOT / "docs").glob("*.md") if p not in linked] == []


def lost_pages(module: Path) -> list[str]:
    named = re.findall(r"(?<![\w/])docs/[\w-]+\.md", module.read_text("utf-8"))
    return [name for name in named if name not in FOREIGN and not (ROOT / name).exists()]


def test_pages_that_the_code_names_exist() -> None:
    modules = [*ROOT.glob("uavsim/**/*.py"), *ROOT.glob("packages/*/src/uavsim_*/**/*.py")]
    assert wrong_of(lost_pages, modules) == {}
