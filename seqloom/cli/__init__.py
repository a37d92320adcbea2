"""The command line. Imports happen inside commands, so that help is instant."""
