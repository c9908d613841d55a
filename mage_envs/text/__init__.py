"""Everything the environment says that is not one game's own words, and the reading of replies."""
