"""Threads, caches and the garbage collector."""
