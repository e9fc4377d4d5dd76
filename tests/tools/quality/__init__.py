"""The figures of ``scripts/house``, on sources written for them."""
