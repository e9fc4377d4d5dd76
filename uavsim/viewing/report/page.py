"""The page, by its template: everything that a dataset says is text, escaped by the template engine."""

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def render(**content: Any) -> str:
    """Return the page as HTML."""
    environment = Environment(
        loader=PackageLoader("uavsim.viewing.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").render(**content)
