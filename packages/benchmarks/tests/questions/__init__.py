"""Questions: what may be asked, how it is drawn, and what a model without an image finds."""
