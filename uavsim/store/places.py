"""Open the output of ``--out``: a folder, or an fsspec URL."""

import re
from pathlib import Path
from typing import Final

from uavsim.errors import InputError
from uavsim.files.result_folder import refuse_no_folder
from uavsim.store.local import LocalOutput
from uavsim.store.output import Output

_SCHEMES: Final = ("file", "s3", "gs", "gcs", "az", "abfs", "abfss")
_HOW: Final = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, or ~/.aws/credentials",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS in the environment",
    "gcs": "GOOGLE_APPLICATION_CREDENTIALS in the environment",
}


def open_output(out: str, *, scratch: Path | None = None) -> Output:
    """Return the output for a path or a URL; does not touch the storage.

    Args:
        out: folder, ``file://`` URL or object store URL (``s3://bucket/prefix``).
        scratch: local folder for scenes in flight if ``out`` is an object store.

    Raises:
        InputError: ``out`` is empty, cannot be a folder, is no valid URL, or has credentials.
    """
    if not out.strip():
        raise InputError("--out is empty; give a folder or an object store's URL")
    scheme, colon, _ = out.partition(":")
    if "://" not in out and colon and scheme.lower() in _SCHEMES:
        raise InputError(f"--out {scheme}:...: a URL needs two slashes: {scheme.lower()}://bucket/prefix")
    if "://" not in out:
        root = Path(out).expanduser().absolute()
        refuse_no_folder(root)
        return LocalOutput(root)
    scheme, _, rest = out.partition("://")
    _refuse_credentials(scheme.lower(), rest)
    if scheme == "file":
        return LocalOutput(Path("/" + rest.lstrip("/")))
    from uavsim.store.storage import ObjectOutput

    return ObjectOutput.open(out, scratch=scratch)


def _refuse_credentials(scheme: str, rest: str) -> None:
    """Refuse an address with possible credentials; addresses are printed, logged and shown in Prefect.

    Raises:
        InputError: the address has credentials; the message does not repeat them.
    """
    if scheme not in _SCHEMES:
        raise InputError(f"--out: unknown kind of store; known: {', '.join(f'{name}://' for name in _SCHEMES)}")
    account, separator, host = rest.partition("@")
    azure = scheme in {"az", "abfs", "abfss"} and re.fullmatch(r"[a-z0-9-]+", account) and "@" not in host
    first = (host if azure else rest).partition("/")[0]
    if (separator and not azure) or ":" in first or "?" in rest or "#" in rest:
        how = _HOW.get(scheme, "the environment variables of the store's own tools")
        raise InputError(f"--out {scheme}://...: give the address without credentials and options; set {how}")
