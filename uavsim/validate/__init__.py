"""The judge of data sets on disk, ours and others'."""

from uavsim.validate.findings import Finding, Report
from uavsim.validate.judge import judge, judge_version

__all__ = ["Finding", "Report", "judge", "judge_version"]
