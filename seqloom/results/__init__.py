"""What models say, as plain data that commands, views and notebooks share. Nothing here computes with a model."""
