"""``uavsim report``: one self-contained page about a dataset, for whoever decides whether to use it."""

from uavsim.viewing.report.write import ReportRequest, write_report

__all__ = ["ReportRequest", "write_report"]
