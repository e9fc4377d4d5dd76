import os
import re
import time

import pytest

from uavsim.config.base import Model, Name
from uavsim.config.load import load, parse
from uavsim.errors import ConfigError


class Part(Model):
    size_m: float
    count: int = 1
    flag: bool = False


class Whole(Model):
    name: Name
    parts: dict[str, Part] = {}  # noqa: RUF012 - pydantic copies it
    line: tuple[float, ...] = ()


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text):
        path = tmp_path / "some.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def refused(path, model=Whole):
    with pytest.raises(ConfigError) as caught:
        load(path, model)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_reads_and_freezes(write):
    loaded = load(write("# comment\nname: a\nparts:\n  one: {size_m: 2}\nline: [1, 2.5, 1e3, -.5]\n"), Whole)
    assert loaded.name == "some"
    assert loaded.model == Whole(name="a", parts={"one": Part(size_m=2.0)}, line=(1.0, 2.5, 1000.0, -0.5))
    with pytest.raises(ValueError, match="frozen"):
        loaded.model.name = "b"


def test_words_are_words_and_numbers_numbers(write):
    text = "a: no\nb: 12:30\nc: 2024-01-01\nd: '5'\ne: 007\nf: ~\ng: .inf\nh: True\ni:\nj: 0x10\nk: on\n"
    assert parse(write(text)) == {
        "a": "no", "b": "12:30", "c": "2024-01-01", "d": "5", "e": 7, "f": None, "g": float("inf"), "h": True, "i": None,
        "j": "0x10", "k": "on",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: a\nparst: {}\n", "some.yaml:2: parst: unknown key; did you mean 'parts'?"),
        ("name: a\nparts:\n  one:\n    size: 2\n", "some.yaml:4: parts.one.size: unknown key; did you mean 'size_m'?"),
        ("line: [1]\n", "some.yaml:1: name: is missing"),
        ("name: a\nparts:\n  one: {count: 2}\n", "some.yaml:3: parts.one.size_m: is missing"),
        ("name: a\nline:\n  - 1\n  - two\n", "some.yaml:4: line[1]: must be a number, got 'two'"),
        ("name: a\nline: 3\n", "some.yaml:2: line: must be a list, got 3"),
        ("name: a\nparts:\n  one: {size_m: .nan}\n", "some.yaml:3: parts.one.size_m: must be a finite number, got nan"),
        (
            "name: a\nparts: {one: {size_m: 1, count: 1.5}}\n",
            "some.yaml:2: parts.one.count: must be a whole number, got 1.5",
        ),
        (
            "name: a\nparts: {one: {size_m: 1, flag: yes}}\n",
            "some.yaml:2: parts.one.flag: must be true or false, got 'yes'",
        ),
        ("name: a\nparts: {one: {size_m: true}}\n", "some.yaml:2: parts.one.size_m: must be a number, got True"),
        ("name: a\nparts: {one: 5}\n", "some.yaml:2: parts.one: must hold keys and values, got 5"),
        ("name: ../../etc/passwd\n", "some.yaml:1: name: '../../etc/passwd' is not a name: letters, digits"),
        ("name: 日本\n", "some.yaml:1: name: '日本' is not a name"),
        ("name:\n", "some.yaml:1: name: must be text, got nothing"),
        ("name: a\nname: b\n", "some.yaml:2: name: duplicate key (first in line 1)"),
        ("name: a\n5: b\n", "some.yaml:2: a key must be a word, not a number"),
        ("name: a\n? [x, y]\n: b\n", "some.yaml:2: a key must be a word, not"),
        ("- a\n- b\n", "some.yaml:1: must hold keys and values, but is a list"),
        ("", "some.yaml:1: must hold keys and values, but is empty"),
        ("name: a\n---\nname: b\n", "some.yaml:3: the file has a second document"),
        ("name: 'a\n", "some.yaml:"),
        ("name: a\n\tparts: {}\n", "some.yaml:2: name: not YAML:"),
        ("name: [a\nparts: {}\n", "some.yaml:2: name: not YAML:"),
        (
            "name: !!python/object:os.system x\n",
            "some.yaml:1: name: the tag 'tag:yaml.org,2002:python/object:os.system'",
        ),
        ("name: !include x\n", "some.yaml:1: name: the tag '!include' is not allowed"),
        ("name: a\nline: &a [*a]\n", "some.yaml:2: line[0]: *a refers to a value that contains it"),
        ("name: a\nline: *b\n", "some.yaml:2: line: *b is not an anchor of this file"),
        ("<<: {name: a}\n", "some.yaml:1: <<: unknown key"),
        (b"name: \xff\xfe\n", "some.yaml:1: not UTF-8 text"),
        (b"name: a\nline: \x00\n", "some.yaml:2: not YAML: contains a control character"),
        ("name: a\nparts: {" + "x" * 900 + ": 1}\n", "some.yaml:2: parts.'xxxxx"),
        ("name: a\nline: [" + "9" * 5000 + "]\n", "some.yaml:2: line[0]: must be a finite number"),
        ("name: a\nline: [1e999]\n", "some.yaml:2: line[0]: must be a finite number, got inf"),
    ],
)
def test_wrong_yaml_is_one_line(write, text, message):
    said = refused(write(text))
    assert said.startswith(message)
    assert len(said) < 400


def test_several_errors_are_counted(write):
    said = refused(write("name: a\nline: [x, y]\nparts: {one: {}}\n"))
    assert said == "some.yaml:2: line[0]: must be a number, got 'x' (and 2 more errors in this file)"


def test_aliases_work_where_they_are_harmless(write):
    loaded = load(write("name: a\nparts:\n  one: &p {size_m: 2}\n  two: *p\n"), Whole)
    assert loaded.model.parts["two"] == Part(size_m=2.0)


def bomb():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (bomb(), "aliases unfold to more than 100000 values"),
        ("a: " + "[" * 5000, "nested deeper than 24"),
        ("- " * 200_000, "nested deeper than 24"),
        ("a: " + "{b: " * 900 + "1" + "}" * 900, "nested deeper than 24"),
        ("a: [" + "1, " * 300_000 + "1]", "too many values"),
        ("x" * 2_100_000, "larger than 2 MB"),
        ("a: '" + "x" * 1_900_000 + "'", "unknown key"),
    ],
)
def test_bombs_are_quick(write, text, message):
    start = time.process_time()
    assert message in refused(write(text))
    assert time.process_time() - start < 2.0


def test_files_that_cannot_be_read(tmp_path):
    assert refused(tmp_path / "none.yaml").endswith("cannot be read: No such file or directory")
    assert "cannot be read" in refused(tmp_path)
    assert "cannot be read" in refused(tmp_path / "nul\0byte.yaml")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_files_that_may_not_be_read(write):
    path = write("name: a\n")
    path.chmod(0)
    assert refused(path).endswith("cannot be read: Permission denied")


def test_byte_order_mark_is_no_matter(write):
    assert load(write(b"\xef\xbb\xbfname: a\n"), Whole).model.name == "a"


def test_paths_below_the_current_folder_are_short(write, tmp_path, monkeypatch):
    path = write("nmae: a\n")
    monkeypatch.chdir("/")
    assert re.match(rf"^{str(tmp_path)[1:]}/some\.yaml:1: nmae: unknown key; did you mean 'name'\?", refused(path))
