"""The demo's own small web: one of every fault, on loopback, without any network."""
