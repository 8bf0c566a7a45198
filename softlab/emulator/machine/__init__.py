"""The machine: compiles basic blocks to NumPy code and runs them in lock step."""
