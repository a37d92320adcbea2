"""The routes of a server, a file for each group."""
