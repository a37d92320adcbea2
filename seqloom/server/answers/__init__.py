"""What is computed for a request, on the side of the thread: plain functions from requests to JSON-ready data."""
