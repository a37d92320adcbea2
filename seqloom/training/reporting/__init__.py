"""What training says: on a terminal, in metrics.jsonl and TensorBoard, and in the model card."""
