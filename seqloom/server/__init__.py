"""The service: models over HTTP, with a web page to look into them. Needs the extra `serve`."""
