"""The front end: PTX text to a linked image of instructions and basic blocks."""
