"""Exported models at work: ONNX Runtime and NumPy, without torch."""
