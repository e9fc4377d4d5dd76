"""The RPC package that both protocols share: registration, argument checks, errors."""
