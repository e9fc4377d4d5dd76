"""Make a dataset of corner cases as OpenAD's files, and score a perturbed result with ours and with OpenAD's own scorer.

    scripts/trial openad-set [FOLDER] [--scenes 0-29] [--town Town10HD] [--openad CHECKOUT]

Flies ``openad-mini`` headless, validates it, exports it, and makes a result of the truth: boxes moved a little, a quarter of
the tags replaced by a synonym, a tenth of the objects lost, false positives added. With a checkout of OpenAD its own
loader opens every scene, and its online scorers, which need numpy and tqdm (``.venv-judge``), score the same files; their
figures must be ours. Writes ``sheet.png``, every corner case cut out of its image: would a person name it? Ends with 0 only if
all of it holds.
"""

import argparse
import json
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np

from tools.common import ROOT

TRAINED: Final = {"av2": False, "kitti": False, "nuscenes": True, "once": False, "waymo": False}
THEIRS: Final = {
    "ap": "AP",
    "ar": "AR",
    "ate": "ATE",
    "ase": "ASE",
    "ar_in_domain_seen": "AR in-domain seen",
    "ar_out_domain_seen": "AR out-domain seen",
    "ar_in_domain_unseen": "AR in-domain unseen",
    "ar_out_domain_unseen": "AR out-domain unseen",
}
TOLERANCE: Final = 1e-9
_RUN_THEIRS: Final = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("scorer", sys.argv[1])
scorer = importlib.util.module_from_spec(spec)
sys.modules["scorer"] = scorer
spec.loader.exec_module(scorer)
found = scorer.main(sys.argv[2], sys.argv[3])
print("RESULT", json.dumps({k: None if v is None else float(v) for k, v in found.items()}))
"""


def run(*words: str) -> str:
    """Run a command that must end well; returns what it wrote."""
    began = time.monotonic()
    done = subprocess.run(words, text=True, capture_output=True, check=False)
    sys.stdout.write(f"{' '.join(words[1:5])} ...: {time.monotonic() - began:.0f} s\n")
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def uavsim(*words: str) -> str:
    """Run one of our commands."""
    return run(sys.executable, "-m", "uavsim", *words)


def perturbed(folder: Path, *, dimensions: int, seed: int = 3) -> list[Any]:
    """Return a submission made of an export's truth."""
    rng = np.random.default_rng(seed)
    with (folder / "gt.pkl").open("rb") as file:
        scenes, _, _ = pickle.load(file)
    reported = json.loads((folder / "tags.json").read_text("utf-8"))
    synonyms = {tag: words["synonyms"] for tag, words in reported["tags"].items()}
    foreign = sorted(reported["features"])
    found = [[_moved(row, rng, dimensions, synonyms) for row in scene if rng.random() > 0.1] for scene in scenes]
    for scene in found:
        for row in list(scene)[:2]:
            scene.append([*_moved([*row, ""], rng, dimensions, {})[:-1], foreign[int(rng.integers(len(foreign)))]])
    tags = sorted({row[-1] for scene in found for row in scene})
    features = np.array([reported["features"][tag] for tag in tags])
    return [found, tags, features, TRAINED]


def _moved(row: list[Any], rng: np.random.Generator, dimensions: int, synonyms: dict[str, list[str]]) -> list[Any]:
    tag = str(row[-1])
    others = synonyms.get(tag, [])
    if others and rng.random() < 0.25:
        tag = others[int(rng.integers(len(others)))]
    if dimensions == 2:
        x0, y0, x1, y1 = row[:4]
        size = np.array([x1 - x0, y1 - y0] * 2)
        return [*(np.array([x0, y0, x1, y1]) + 0.05 * size * rng.normal(size=4)).tolist(), tag]
    own = np.array(row[:7] if len(row) < 12 else row[4:11], dtype=np.float64)
    own[3:6] += rng.normal(scale=0.5, size=3)
    own[:3] *= rng.uniform(0.9, 1.1, 3)
    return [*own.tolist(), tag]


def compare(folder: Path, openad: Path | None, *, dimensions: int) -> bool:
    """Score a perturbed result with ours, and with theirs where it is there; returns whether both say the same."""
    result, scores = folder / f"result{dimensions}d.pkl", folder / f"scores{dimensions}d.json"
    result.write_bytes(pickle.dumps(perturbed(folder, dimensions=dimensions), protocol=4))
    words = ["--truth", str(folder / "gt.pkl"), "--results", str(result), "--option", f"dimensions={dimensions}"]
    uavsim("evaluate", "openad", *words, "--json", str(scores))
    ours = json.loads(scores.read_text("utf-8"))
    reported = {name: ours.get("scores", ours).get(name) for name in THEIRS}
    sys.stdout.write(f"{dimensions}D, ours: {reported}\n")
    if openad is None:
        return True
    scorer = openad / "openad" / "evaluate" / f"online_{dimensions}d.py"
    judge = ROOT / ".venv-judge" / "bin" / "python"
    said = run(str(judge), "-c", _RUN_THEIRS, str(scorer), str(result), str(folder / "gt.pkl"))
    theirs = json.loads(said.rpartition("RESULT ")[2])
    off = {
        n: abs(float(reported[n]) - theirs[t])
        for n, t in THEIRS.items()
        if theirs[t] is not None and reported[n] is not None
    }
    sys.stdout.write(f"{dimensions}D, largest difference from OpenAD's own scorer: {max(off.values()):.2e}\n")
    return bool(max(off.values()) < TOLERANCE)


def opened(folder: Path, openad: Path) -> int:
    """Open every scene with OpenAD's own loader; returns how many it opened."""
    judge = ROOT / ".venv-judge" / "bin" / "python"
    reported = json.loads(
        run(str(judge), str(ROOT / "packages/benchmarks/reference/openad_loader.py"), str(openad), str(folder))
    )
    sys.stdout.write(f"OpenAD's own loader: {reported}\n")
    return int(reported["scenes"])


def sheet(folder: Path) -> Path:
    """Cut every corner case out of its image, a tile each."""
    tiles = []
    for info_path in sorted((folder / "infos").glob("*.json"), key=lambda path: int(path.stem)):
        info = json.loads(info_path.read_text("utf-8"))
        image = cv2.imread(str(folder / "camera_image" / f"{info_path.stem}_0.jpg"))
        assert image is not None
        for thing in (thing for thing in info["uav_objects"] if thing["corner_case"]):
            x0, y0, x1, y1 = thing["visible_box"]
            half = int(max(x1 - x0, y1 - y0, 24) * 0.9)
            u, v = int((x0 + x1) / 2), int((y0 + y1) / 2)
            padded = cv2.copyMakeBorder(image, half, half, half, half, cv2.BORDER_REPLICATE)
            tile = cv2.resize(padded[v : v + 2 * half, u : u + 2 * half], (240, 240), interpolation=cv2.INTER_CUBIC)
            for shade, thick in ((0, 3), (255, 1)):
                text = f"{thing['tag']} {thing['visible_px']} px"
                cv2.putText(tile, text, (4, 16), cv2.FONT_HERSHEY_SIMPLEX, 0.42, (shade,) * 3, thick, cv2.LINE_AA)
            tiles.append(tile)
    across = 6
    tiles += [np.zeros_like(tiles[0])] * (-len(tiles) % across)
    rows = [np.concatenate(tiles[k : k + across], axis=1) for k in range(0, len(tiles), across)]
    path = folder / "sheet.png"
    cv2.imwrite(str(path), np.concatenate(rows))
    return path


def main() -> int:
    """Make, validate, export, score."""
    parser = argparse.ArgumentParser(prog="scripts/trial openad-set", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--town")
    parser.add_argument("--scenes")
    parser.add_argument("--openad", type=Path, help="checkout of OpenAD's repository")
    options = parser.parse_args()
    work = options.folder or Path(tempfile.mkdtemp(prefix="uavsim-openad-"))
    data, out = work / "data", work / "openad"
    chosen = [word for name in ("town", "scenes") if (value := getattr(options, name)) for word in (f"--{name}", value)]
    uavsim("generate", "--dataset", "openad-mini", "--out", str(data), *chosen)
    uavsim("validate", str(data))
    uavsim("export", str(data), str(out), "--format", "openad")
    infos = [json.loads(path.read_text("utf-8")) for path in (out / "infos").glob("*.json")]
    kinds = {thing["tag"] for info in infos for thing in info["uav_objects"] if thing["corner_case"]}
    sys.stdout.write(f"{len(infos)} scenes, {len(kinds)} kinds, {sheet(out)}\n")
    whole = options.openad is None or opened(out, options.openad) == len(infos)
    good = [compare(out, options.openad, dimensions=dimensions) for dimensions in (2, 3)]
    return 0 if whole and all(good) else 1
