"""Charts and diagrams: curves and bars, points in a plane, the tree of a search, a model at work step by step."""
