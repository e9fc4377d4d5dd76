"""``--out`` is a folder or an address; an address never carries credentials."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from uavsim.errors import InputError
from uavsim.store.local import LocalOutput
from uavsim.store.places import open_output


def test_relative_folder_is_resolved_against_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for text, path in (("out", tmp_path / "out"), ("~/sets", tmp_path / "home/sets"), ("/data/x", Path("/data/x"))):
        output = open_output(text)
        assert isinstance(output, LocalOutput)
        assert output.root == path
    assert open_output("file:///data/x").root == Path("/data/x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "  "])
def test_empty_out_is_refused(text):
    with pytest.raises(InputError, match="--out is empty"):
        open_output(text)


@pytest.mark.parametrize(
    "address",
    [
        "s3://key:{}@bucket/prefix",
        "s3://{}@bucket/prefix",
        "s3://bucket:{}/prefix",
        "s3://bucket/prefix?token={}",
        "gs://bucket/prefix#{}",
        "abfs://a:{}@host/container",
    ],
)
@given(secret=st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=12, max_size=40))
@example(secret="geheim")
def test_credentials_in_an_address_are_refused_and_not_repeated(address, secret):
    with pytest.raises(InputError, match="give the address without credentials and options") as refused:
        open_output(address.format(secret))
    assert secret not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("address", ["s3:/bucket/prefix", "S3:bucket", "gs:bucket/prefix"])
def test_an_address_with_too_few_slashes_is_no_folder(address):
    with pytest.raises(InputError, match=r"a URL needs two slashes: (s3|gs)://bucket/prefix"):
        open_output(address)


def test_an_unknown_kind_of_store_names_the_known_ones():
    with pytest.raises(InputError, match="unknown kind of store; known: file://, s3://"):
        open_output("ftp://host/set")
