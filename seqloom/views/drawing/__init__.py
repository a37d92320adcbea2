"""What everything is drawn with and on: colours, fonts and shapes; a canvas for PNG, a document for SVG, a page for HTML."""
