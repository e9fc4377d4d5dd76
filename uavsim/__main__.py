"""``python -m uavsim`` is the command line."""

from uavsim.cli import main

main()
