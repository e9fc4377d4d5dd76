"""Records there and back."""
