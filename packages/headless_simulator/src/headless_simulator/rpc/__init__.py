"""msgpack-RPC for both protocols: messages, connections, method tables, argument checks, error answers."""
