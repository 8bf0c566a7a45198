"""Recorded results, and how they were recorded."""
