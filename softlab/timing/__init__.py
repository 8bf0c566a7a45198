"""How long a launch takes, what bounds it and what each line waits for: one SM simulated from the machine code."""
