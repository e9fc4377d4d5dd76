"""Boxes of single samples linked to tracks; a tracker sees one sample after the other and looks at no image."""
