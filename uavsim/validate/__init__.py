"""The validator of datasets on disk, with its own definitions of format, frames and classes."""

from uavsim.validate.findings import Finding, Report
from uavsim.validate.validator import validate_dataset, validate_version

__all__ = ["Finding", "Report", "validate_dataset", "validate_version"]
