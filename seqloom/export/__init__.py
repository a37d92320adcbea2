"""From a run to a folder that runs anywhere: graphs, vocabularies, and what whoever gets it must know."""
