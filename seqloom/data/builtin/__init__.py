"""Tasks that bring their own examples."""
