"""What models are in training only: what is left out at random, and what is minimised."""
