# ruff: noqa: T201 - printing is its job
"""Every environment and every damage against the commands: checked by exit code, one line, processes, foreign files.

    python -m tests.hostile.matrix [--only WORDS]

A row passes when the exit code is the one that the README lists for it, standard error holds at most one line that says
``error:`` and no traceback, nothing that a terminal would obey is printed, no process is left, no file of others is changed,
and what it made, or said, has the bytes that the same command made in plain surroundings.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.dataset_factory import make_dataset
from tests.hostile import canaries
from tests.hostile.damages import DAMAGES, NOTES
from tests.hostile.places import NAMES, OUTS, Out
from tests.hostile.surroundings import SURROUNDINGS, Surrounding
from tools.common.leftovers import contents
from tools.common.small_dataset import one_scene

COMMANDS: dict[str, list[str]] = {  # with SET and OUT filled in
    "status": ["status", "SET", "--json"],
    "validate": ["validate", "SET", "--workers", "1"],
    "convert": ["convert", "SET", "OUT", "--dialect", "uav3d"],
    "v2xsim": ["export", "SET", "OUT", "--format", "v2xsim"],
    "coco": ["export", "SET", "OUT", "--format", "coco"],
    "opv2v": ["export", "SET", "OUT", "--format", "opv2v"],
    "mmdet3d": ["export", "SET", "OUT", "--format", "mmdet3d"],
    "publish": ["publish", "SET", "--out", "OUT", "--date", "2026-01-01"],
    "events": ["events", "SET", "--out", "OUT", "--workers", "2"],
    "video": ["video", "SET", "--out", "OUT/video.mp4"],
    "annotate": ["annotate", "SET"],
    "generate": ["generate", *one_scene(1), "--out", "OUT"],
    "secret": ["generate", "--dataset", "smoke", "--out", "s3://KEY:SEC/RET@bucket/x"],
    "linked out": ["generate", "--dataset", "smoke", "--town", "Town10HD", "--scenes", "0", "--out", "SET"],
}
NOT_READ = {  # damages -> what need not read the damaged part, and does its work
    "32000 pixels": "opv2v", "4 billion pixels": "v2xsim", "time 10^30": "v2xsim",
    "deep splits": "mmdet3d", "damaged info": "validate", "huge coordinates": "opv2v",
    "bool for a time": "convert", "scene in circles": "v2xsim", "2^70 pixels wide": "convert", "mask cut off": "v2xsim",
}  # fmt: skip
NOTES_CODES = {"ledger garbage": (3, 3), "ledger deep": (3, 3), "ledger of another": (3, 3), "dataset.json garbage": (3, 2),
               "dataset.json deep": (3, 2)}  # fmt: skip
"""Exit codes of ``status`` and ``annotate``; elsewhere ``status`` says what it can, and there is no scene to label."""
DECODED = {
    "2^70 pixels wide": ("publish", "video"),
    "mask cut off": ("coco", "events"),
    "32000 pixels": ("events", "video"),
}
"""Damages that are met where pixels are decoded or declared."""
LIMIT_S = 420.0


@dataclass
class Row:
    """One trial."""

    name: str
    command: str
    code: int
    surrounding: Surrounding = SURROUNDINGS[0]
    damage: Callable[[Path], None] | None = None
    name_of_set: str = "set"
    out: Out | None = None


def rows() -> list[Row]:
    """Return the whole matrix."""
    found = []
    for surrounding in SURROUNDINGS:
        for command in surrounding.only:
            code = surrounding.codes.get(command, 0)
            found.append(Row(f"{surrounding.name}: {command}", command, code, surrounding))
    for number, (name, damage) in enumerate(DAMAGES.items()):
        others = ("convert", "v2xsim", "coco", "opv2v", "mmdet3d")
        for command in ("validate", others[number % len(others)]):
            code = 0 if NOT_READ.get(name) == command else 4
            found.append(Row(f"{name}: {command}", command, code, damage=damage))
    for name, commands in DECODED.items():
        for command in commands:
            found.append(Row(f"{name}: {command}", command, 4, damage=DAMAGES[name]))
    for name, damage in NOTES.items():
        for command, code in zip(("status", "annotate"), NOTES_CODES.get(name, (0, 2)), strict=True):
            found.append(Row(f"{name}: {command}", command, code, damage=damage))
    found.append(Row("credentials in the address", "secret", 2))
    found.append(
        Row("linked root: generate", "linked out", 2, damage=lambda root: (root / "lidarseg").symlink_to("/etc"))
    )
    for kind, name in NAMES.items():
        for command in ("status", "opv2v"):
            found.append(Row(f"dataset named with {kind}: {command}", command, 0, name_of_set=name))
    for kind, out in OUTS.items():
        found.append(Row(f"result goes to {kind}: opv2v", "opv2v", out.code, out=out))
        if out.run is not None:
            found.append(Row(f"result goes to {kind}: generate", "generate", out.run, out=out))
    return found


class Matrix:
    """Runs rows, each in a folder of its own, beside the same canary tree."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self._plain = dict[str, dict[str, str]]()
        self.good = make_dataset(work / "good", scenes=1, samples=2, sweeps=0, drones=1, size_px=(64, 36))
        notes = self.good / ".uavsim"
        (notes / "ledger").mkdir(parents=True)
        (notes / "recordings/scene_00").mkdir(parents=True)
        (notes / "fragments").mkdir()
        (notes / "dataset.json").write_text(json.dumps({"dataset": "tiny", "seed": 0, "fingerprint": "x"}))
        (notes / "ledger/scene_00.json").write_text(
            json.dumps({"scene": "scene_00", "state": "quarantined", "reasons": ["x"]})
        )

    def wrong_in(self, row: Row) -> list[str]:
        """Run one row; returns what is wrong."""
        folder = Path(tempfile.mkdtemp(prefix="row-", dir=self.work))
        folder.chmod(0o755)
        root, beside = folder / row.name_of_set, folder / "beside"
        shutil.copytree(self.good, root, symlinks=True)
        canaries.plant(root, beside)
        if row.damage is not None:
            row.damage(root)
        if row.out is not None:
            row.out.make(folder / row.out.place, root)
        there = self._contents(folder, row)
        (folder / "cwd").mkdir()
        row.surrounding.prepare(folder / "cwd")
        if row.command == "validate":
            (root / "link_out").unlink()  # which it reports, as it should
        before = canaries.fingerprints(root, beside)
        began = time.monotonic()
        code, out, err = self._run(row, folder)
        wrong = [] if code == row.code else [f"exit code {code}, not {row.code}: {err.strip()[-300:]}"]
        lines = [line for line in err.splitlines() if line.startswith("error:")]
        if len(lines) > 1 or "Traceback" in err:
            wrong.append(f"{len(lines)} error lines, or a traceback: {err.strip()[-400:]}")
        if code not in {0} and not lines and "closed" not in row.name and "reader" not in row.name:
            wrong.append(f"exit code {code} without an error line: {err.strip()[-300:]}")
        if any(not (c.isprintable() or c in "\n ") for c in (out + err)) and "colours" not in row.name:
            wrong.append("control characters reach the terminal")
        if "SEC/RET" in out + err:
            wrong.append("a secret is printed")
        wrong += [] if code != 0 else self._other_bytes(row, folder, out)
        wrong += [f"beside the result: {name}" for name in there - self._contents(folder, row)]
        wrong += [f"foreign: {name}" for name in canaries.changed(before, canaries.fingerprints(root, beside))]
        wrong += [f"process left: {process}" for process in self._left(folder)]
        if time.monotonic() - began > LIMIT_S:
            wrong.append("takes too long")
        shutil.rmtree(folder, ignore_errors=True)
        return wrong

    def _run(self, row: Row, folder: Path) -> tuple[int, str, str]:
        arguments = [
            {"SET": str(folder / row.name_of_set), "OUT": str(folder / (row.out.place if row.out else "out"))}.get(a, a)
            for a in COMMANDS[row.command]
        ]
        command = [*row.surrounding.wrap, sys.executable, "-P", "-m", "uavsim", *arguments]
        env = {**os.environ, "UAVSIM_ROW": str(folder), "DO_NOT_TRACK": "1"}
        for name, value in row.surrounding.env.items():
            env.pop(name, None)
            if value is not None:
                env[name] = value
        if row.out is not None and row.out.home:
            env["HOME"] = str(folder / row.out.place)
        if row.surrounding.shell:
            quoted = " ".join(f"'{part}'" for part in command)
            twice = f"& {quoted} > /dev/null 2>&1; other=$?; wait $! || exit; exit $other"
            command = [
                "bash",
                "-c",
                f"set -o pipefail; {quoted} {twice if row.surrounding.shell == 'TWICE' else row.surrounding.shell}",
            ]
        before = row.surrounding.before
        done = subprocess.Popen(
            command, cwd=folder / "cwd", env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=lambda: before(folder / "cwd"),
        )  # fmt: skip
        try:
            out, err = done.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            done.kill()
            out, err = done.communicate()
        return done.returncode, out.decode(errors="replace"), err.decode(errors="replace")

    def _contents(self, folder: Path, row: Row) -> set[str]:
        """Files that stood where the result goes, with their content: an export may add to them and must change none."""
        place = folder / row.out.place if row.out is not None else None
        if place is None or place == folder / "set" or not place.is_dir() or place.is_symlink():
            return set()
        return {f"{p} {hashlib.sha256(p.read_bytes()).hexdigest()}" for p in place.rglob("*") if p.is_file()}

    def _other_bytes(self, row: Row, folder: Path, said: str) -> list[str]:
        """Compare what a command made, or said, with what it made in plain surroundings: nothing else may show in it."""
        if row.damage is not None or row.out is not None or row.surrounding.shell not in {"", "TWICE", "< /dev/zero"}:
            return []
        if row.command == "status":
            made = {"said": said.replace(str(folder / row.name_of_set), "SET")} if not row.surrounding.shell else {}
            made = {} if row.name_of_set != "set" or "ascii" in row.name else made
        else:
            out = folder / "out"
            made = {n: d for n, d in contents(out).items()} if out.is_dir() else {}
        if not made:
            return []
        if row.name.startswith("plain: "):
            self._plain[row.command] = made
        plain = self._plain[row.command]
        return [
            f"other bytes than in plain surroundings: {name}"
            for name in sorted(plain.keys() | made.keys())
            if plain.get(name) != made.get(name)
        ][:3]

    def _left(self, folder: Path) -> list[str]:
        end = time.monotonic() + 5.0
        while True:
            left = []
            for process in psutil.process_iter():
                try:
                    if process.environ().get("UAVSIM_ROW") == str(folder) and process.status() != psutil.STATUS_ZOMBIE:
                        left.append(f"{process.pid} {process.name()}")
                except psutil.Error:
                    continue
            if not left or time.monotonic() > end:
                return left
            time.sleep(0.1)


def main() -> int:
    """Run the matrix; 0 when every row holds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name holds this")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    failed = 0
    chosen = [row for row in rows() if options.only in row.name]
    plain = [row for row in rows() if row.name in {f"plain: {other.command}" for other in chosen}]
    chosen = [row for row in chosen if row not in plain]
    with tempfile.TemporaryDirectory(prefix="uavsim-hostile-", ignore_cleanup_errors=True) as work:
        Path(work).chmod(0o755)
        matrix = Matrix(Path(work))
        with ThreadPoolExecutor(options.workers) as pool:
            for some in (plain, chosen):  # the others' bytes are held against the plain rows'
                for row, wrong in zip(some, pool.map(matrix.wrong_in, some), strict=True):
                    failed += bool(wrong)
                    if wrong:
                        print(f"FAILS {row.name}: {wrong}", flush=True)
    print(f"{len(plain) + len(chosen)} rows, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
