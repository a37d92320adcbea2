"""What models are for prediction: laid out for speed, and stepped through by search."""
