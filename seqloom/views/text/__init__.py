"""Text as readers see it: letters with their marks, symbols as labels, where pieces lie in a text."""
