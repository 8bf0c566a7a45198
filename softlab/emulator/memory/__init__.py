"""The memories of a launch, and what moves data between them."""
