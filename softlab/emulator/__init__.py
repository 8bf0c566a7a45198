"""Runs PTX on a CPU: the whole grid in lock step over NumPy arrays."""
