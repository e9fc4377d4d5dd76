"""Broken copies of valid YAML files, with the key and the line that each message must name."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uavsim.config.library import kinds, packaged_root
from uavsim.config.load import parse

RAW = "@@{}@@"
ROOT = packaged_root()


@dataclass(frozen=True)
class Broken:
    """One broken file: path, content, and required parts of the message."""

    what: str
    name: str
    data: bytes
    key: str = ""  # the key that the message must name
    line: int | None = None  # the line it must name, if a single line is wrong


def good_files() -> list[tuple[str, Path]]:
    """Return kinds and paths of the packaged files, large route files once."""
    plans = ROOT / "flight_plans"
    files = [("dataset", p) for p in sorted((plans / "datasets").glob("*.yaml"))]
    files += [("formation", p) for p in sorted((plans / "formations").glob("*.yaml"))]
    files += [("rig", p) for p in sorted((plans / "rigs").glob("*.yaml"))]
    files += [("weather", p) for p in sorted((plans / "weather").glob("*.yaml"))]
    files += [("town", ROOT / "town_configs" / "town10hd.yaml"), ("routes", plans / "town10hd.yaml")]
    return files


FOLDERS = {
    "dataset": "datasets",
    "formation": "formations",
    "rig": "rigs",
    "weather": "weather",
    "town": "town_configs",
    "routes": "flight_plans",
}


def text_of(value: Any, raw: dict[str, str]) -> str:
    """Return YAML text (JSON, one value per line) with raw tokens inserted."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    for mark, token in raw.items():
        text = text.replace(json.dumps(mark, ensure_ascii=False), token)
    return text + "\n"


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield every value with its path."""
    if path:
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    for key, part in items:
        yield from places(part, (*path, key))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    value = copy.deepcopy(value)
    at = value
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = new
    return value


def renamed(value: Any, path: tuple[Any, ...], key: str) -> Any:
    """Rename the key that a path ends with, in place."""
    value = copy.deepcopy(value)
    at = value
    for step in path[:-1]:
        at = at[step]
    entries = [(key if k == path[-1] else k, v) for k, v in at.items()]
    at.clear()
    at.update(entries)
    return value


def model_keys(kind: str) -> set[str]:
    """Return every key of a kind's models, at any depth."""
    schema = kinds()[kind].model_json_schema(by_alias=True)
    found: set[str] = set()

    def walk(part: Any) -> None:
        if isinstance(part, dict):
            found.update(part.get("properties", {}))
            for inner in part.values():
                walk(inner)
        elif isinstance(part, list):
            for inner in part:
                walk(inner)

    walk(schema)
    return found


def shown_key(path: tuple[Any, ...]) -> str:
    return "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in path).lstrip(".")


FREE_TEXT = {"notes", "description"}


class Mutator:
    """Makes broken files from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.files = [(kind, path, json.loads(json.dumps(parse(path)))) for kind, path in good_files()]

    def many(self, count: int) -> list[Broken]:
        ways: list[Callable[[], Broken | None]] = [
            self.typo, self.typo, self.wrong_type, self.wrong_type, self.huge, self.not_finite, self.missing, self.climbs,
            self.odd_letters, self.cut, self.bytes,
        ]  # fmt: skip
        made: dict[tuple[str, bytes], Broken] = {}
        turn = 0
        while len(made) < count:
            broken = ways[turn % len(ways)]()
            turn += 1
            if broken is not None:
                made.setdefault((broken.name, broken.data), broken)
        return list(made.values())

    def pick(self) -> tuple[str, Path, Any]:
        return self.random.choice(self.files)

    def broken(self, what: str, kind: str, text: str | bytes, key: str = "", mark: str | None = None) -> Broken:
        data = text if isinstance(text, bytes) else text.encode("utf-8", errors="surrogatepass")
        line = None
        if mark is not None and isinstance(text, str):
            hits = [i for i, line in enumerate(text.splitlines(), 1) if mark in line]
            line = hits[0] if len(hits) == 1 else None
        stem = {"town": "town10hd", "routes": "town10hd"}.get(kind, "broken")
        return Broken(what, f"{FOLDERS[kind]}/{stem}.yaml", data, key, line)

    def typo(self) -> Broken | None:
        kind, _, value = self.pick()
        keys = model_keys(kind)
        known = [p for p, _ in places(value) if isinstance(p[-1], str) and p[-1] in keys]
        if not known:
            return None
        path = self.random.choice(known)
        word = path[-1]
        i = self.random.randrange(len(word))
        new = self.random.choice([word[:i] + word[i + 1 :], word[:i] + word[i] + word[i:], word + "_"])
        if new in keys or not new:
            return None
        return self.broken("typo", kind, text_of(renamed(value, path, new), {}), new, f'"{new}":')

    def scalar(self, *, numbers: bool) -> tuple[str, Any, tuple[Any, ...]] | None:
        kind, _, value = self.pick()
        types = (int, float) if numbers else (int, float, str, bool)
        paths = [
            p
            for p, v in places(value)
            if isinstance(v, types) and not (numbers and isinstance(v, bool)) and not FREE_TEXT & set(map(str, p))
        ]
        return (kind, value, self.random.choice(paths)) if paths else None

    def put(self, what: str, kind: str, value: Any, path: tuple[Any, ...], raw: str) -> Broken:
        """Replace a value by a raw token on its own line."""
        mark = RAW.format("x")
        text = text_of(changed(value, path, mark), {mark: raw})
        line = json.dumps(changed(value, path, mark), indent=1, ensure_ascii=False).splitlines()
        at = next(i for i, t in enumerate(line, 1) if mark in t)
        broken = self.broken(what, kind, text, shown_key(path))
        return Broken(broken.what, broken.name, broken.data, broken.key, at if "\n" not in raw else None)

    def wrong_type(self) -> Broken | None:
        found = self.scalar(numbers=False)
        if found is None:
            return None
        kind, value, path = found
        return self.put(
            "wrong type", kind, value, path, self.random.choice(["[[1]]", "{a: {b: 1}}", "[true]", "[]", "{}"])
        )

    def huge(self) -> Broken | None:
        found = self.scalar(numbers=True)
        if found is None:
            return None
        kind, value, path = found
        raw = self.random.choice(["1e300", "-1e300", "9" * 400, "-" + "9" * 39, "1e999", "9" * 30])
        return self.put("huge number", kind, value, path, raw)

    def not_finite(self) -> Broken | None:
        found = self.scalar(numbers=True)
        if found is None:
            return None
        return self.put("not finite", *found, self.random.choice([".nan", ".inf", "-.inf", ".NaN", "nan"]))

    def missing(self) -> Broken | None:
        required = {
            "dataset": ["towns", "formation", "rig"],
            "formation": ["shape"],
            "rig": ["cameras"],
            "town": ["name", "carla_map", "x_m", "y_m"],
            "routes": ["town", "routes"],
        }
        kind, _, value = self.pick()
        keys = [k for k in required.get(kind, []) if k in value]
        if not keys:
            return None
        key = self.random.choice(keys)
        return self.broken("missing key", kind, text_of({k: v for k, v in value.items() if k != key}, {}), key)

    def climbs(self) -> Broken:
        """Return a file with a name or key that leads out of its folder."""
        path = self.random.choice(["../../etc/passwd", "..", "/etc/passwd", "a/../../b", "..\\\\b", "./x"])
        options: list[tuple[str, str, str]] = [
            ("dataset", "towns: {Town10HD: {scenes: 1}}\nrig: uav3d\nformation: '%s'\n", "formation"),
            ("dataset", "towns: {'%s': {scenes: 1}}\nrig: uav3d\nformation: cross\n", "towns"),
            ("dataset", "towns: {Town10HD: {scenes: 1}}\nrig: '%s'\nformation: cross\n", "rig"),
            ("rig", "cameras: {'%s': {}}\n", "cameras"),
            ("town", "name: '%s'\ncarla_map: a\nshort_name: a\nx_m: [0, 90]\ny_m: [0, 90]\n", "name"),
            ("routes", "town: Town10HD\nroutes: {'%s': {path: [[0, 0]]}}\n", "routes"),
            ("weather", "preset: '%s'\n", "preset"),
        ]
        kind, text, key = self.random.choice(options)
        return self.broken("path with ..", kind, text % path, key)

    def odd_letters(self) -> Broken:
        odd = self.random.choice(
            ["日本", "\u202ecross", "cross\u200b", "cr\u0301oss", "🚁", "ｃross", "\\x1b[31mred", "Ω" * 300]
        )
        options = [
            ("dataset", 'towns: {Town10HD: {scenes: 1}}\nrig: uav3d\nformation: "%s"\n', "formation"),
            ("rig", 'cameras: {"%s": {}}\n', "cameras"),
            ("formation", 'shape: "%s"\n', "shape"),
            ("weather", '"%s": 3\n', ""),
            ("routes", 'town: "%s"\nroutes: {r: {path: [[0, 0]]}}\n', "town"),
        ]
        kind, text, key = self.random.choice(options)
        return self.broken("unicode", kind, text % odd, key)

    def cut(self) -> Broken:
        """Return a truncated file, or one with a typing error."""
        kind, path, _ = self.pick()
        lines = path.read_text().splitlines()
        at = self.random.randrange(1, len(lines))
        slip = self.random.choice(
            ["\tindented: by a tab", "key: 'no end", "key: [1, 2", "key: {a: 1", "- item", ": :", "key: @a", "%x y"]
        )
        return self.broken("slip", kind, "\n".join([*lines[:at], slip, *lines[at:]]) + "\n")

    def bytes(self) -> Broken:
        kind, path, _ = self.pick()
        data = path.read_bytes()
        at = self.random.randrange(len(data))
        junk = self.random.choice([b"\xff\xfe", b"\x00", b"\x80\x81", b"\x1b[2J", b"\xed\xa0\x80", b"\x07"])
        return self.broken("bytes", kind, data[:at] + junk + data[at:])
