"""The validator of datasets on disk, ours and others': its own idea of format, frames and classes, from the disk alone."""

from uavsim.validate.findings import Finding, Report
from uavsim.validate.validator import validate_dataset, validate_version

__all__ = ["Finding", "Report", "validate_dataset", "validate_version"]
