"""The data doctor: reads all data before training does, and says what it saw."""
