"""Runs PTX on a CPU: the whole grid in lock step over NumPy arrays."""

#: PTX instructions that one batch of blocks may issue before its loop counts as infinite: a loop of 2 million turns
#: has room for 25 in each. Most infinite loops are proven long before. A limit of our own.
INSTRUCTION_BUDGET = 50_000_000
