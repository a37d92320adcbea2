"""The machine around us: files of strangers, files written whole, JSON, terminals, the processor."""
