"""Pure rules (banks, coalescing) and observers of the emulator (counters, hazards)."""
