"""From files to padded batches of symbols: readers, vocabularies, batches, the data doctor."""
