"""OpenAD's AP, AR and errors of boxes."""
