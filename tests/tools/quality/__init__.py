"""The limits of size, on sources written for them."""
