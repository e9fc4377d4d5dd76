from pathlib import Path

import pytest

from uavsim.config.events import EventThresholds
from uavsim.config.library import Library, packaged_root
from uavsim.errors import ConfigError, UnknownNameError


def test_the_file_with_the_defaults_holds_the_defaults_and_all_of_them() -> None:
    loaded = Library.of().events("default")
    assert loaded.source.path.resolve() == packaged_root() / "flight_plans/events/default.yaml"
    assert loaded.model == EventThresholds()
    assert loaded.model.model_dump(exclude_unset=True) == EventThresholds().model_dump()


def test_a_file_may_contain_only_differences(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("objects: {seen_px: 30}\n")
    model = Library.of().events(str(file)).model
    assert (model.objects.seen_px, model.quality) == (30, EventThresholds().quality)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("quality: {dark: [10, 20, 30, 40]}", "dark: thresholds must fall"),
        ("quality: {noise_sigma: [1, 1, 2, 3]}", "noise_sigma: thresholds must rise"),
        ("objects: {seen: 3}", "seen_px"),
    ],
)
def test_a_wrong_file_is_one_line_with_the_key(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text + "\n")
    with pytest.raises(ConfigError, match=said) as error:
        Library.of().events(str(file))
    assert "\n" not in str(error.value)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown thresholds"):
        Library.of().events("defualt")
