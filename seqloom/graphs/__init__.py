"""A trained model as ONNX graphs: written from its recipe and its weights by name, so that torch has no part in it."""
