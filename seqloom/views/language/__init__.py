"""What a language model makes of a text: surprise, the next symbol, units that light up."""
