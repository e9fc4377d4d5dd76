"""``uavsim report``: one self-contained HTML page about a dataset."""

from uavsim.viewing.report.write import ReportRequest, write_report

__all__ = ["ReportRequest", "write_report"]
