"""The models, in torch: cells, attention, bridges, encoders, decoders, and the stepper that search sees."""
