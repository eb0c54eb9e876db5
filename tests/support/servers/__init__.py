"""Servers on loopback: models, services, and the API of a forge."""
