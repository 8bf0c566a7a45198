"""Recorded results, how they were recorded, and what they say of the kernels and of the claims about them."""
