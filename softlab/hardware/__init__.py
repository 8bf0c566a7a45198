"""GPUs: the limits of named devices, and what an SM holds of a kernel."""
