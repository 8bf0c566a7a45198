"""What the hardware did: cases that run on a GPU under Nsight Compute and on the emulator, and what it counted."""
