"""What needs a GPU to run: the recorders of ``softlab/bench/data``, the clock they use, and ``live``."""
