"""A folder has the identity of its dataset, and refuses another one."""

import pytest

from uavsim.errors import InputError, StorageError
from uavsim.store.identity import IDENTITY, check_identity, claim_output, fingerprint, read_identity, refuse_removed
from uavsim.store.local import LocalOutput

MARK = fingerprint({"samples": 4}, seed=7)
SMOKE = {"dataset": "smoke", "seed": 7, "fingerprint": MARK}


def test_the_fingerprint_is_of_values_not_of_their_order():
    assert fingerprint({"a": 1, "b": [2]}, seed=7) == fingerprint({"b": [2], "a": 1}, seed=7)
    assert len({fingerprint({"a": 1}, seed=7), fingerprint({"a": 1}, seed=8), fingerprint({"a": 2}, seed=7)}) == 3


def test_a_fresh_folder_is_claimed_once_and_stays_the_same_datasets(tmp_path):
    output = LocalOutput(tmp_path / "out")
    assert check_identity(output, mark=MARK, name="smoke")
    claim_output(output, identity=SMOKE)
    claim_output(output, identity=SMOKE)
    assert read_identity(output) == SMOKE
    assert not check_identity(output, mark=MARK, name="smoke")
    with pytest.raises(InputError, match=r"another dataset \(smoke, seed 7; this command makes uav3d\)"):
        claim_output(output, identity={**SMOKE, "dataset": "uav3d", "fingerprint": "other"})
    assert read_identity(output) == SMOKE


def test_files_of_others_are_left_alone(tmp_path):
    (tmp_path / "holiday.jpg").touch()
    with pytest.raises(InputError, match=r"not empty and holds no uavsim dataset \(holiday.jpg\)"):
        claim_output(LocalOutput(tmp_path), identity=SMOKE)
    assert [path.name for path in tmp_path.iterdir()] == ["holiday.jpg"]


@pytest.mark.parametrize(
    ("text", "why"),
    [("{", "damaged"), ("[]", "no fingerprint"), ('{"fingerprint": 3}', "no fingerprint"),
     ('{"fingerprint": "x", "dataset": "s", "seed": true}', "seed has a wrong type")],
)  # fmt: skip
def test_a_damaged_note_is_the_storages_fault(tmp_path, text, why):
    (tmp_path / ".uavsim").mkdir()
    (tmp_path / IDENTITY).write_text(text)
    with pytest.raises(StorageError, match=f"{why}.*restore it, or choose another --out"):
        read_identity(LocalOutput(tmp_path))


def test_a_link_where_a_run_writes_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out/samples").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="samples is a link"):
        claim_output(LocalOutput(tmp_path / "out"), identity=SMOKE)


def test_a_folder_that_goes_under_a_run_is_noticed(tmp_path):
    output = LocalOutput(tmp_path / "out")
    claim_output(output, identity=SMOKE)
    refuse_removed(output)
    (tmp_path / "out" / IDENTITY).unlink()
    with pytest.raises(StorageError, match="was removed or emptied during the run"):
        refuse_removed(output)
