"""Files of every format -> examples: lines, tables, records, plain text, and what is handed in to predict from."""
