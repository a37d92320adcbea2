"""What trained models are worth: reports, what goes wrong, and one input followed through search and attention."""
