"""What a dataset looks like: pages, and recordings read back."""
