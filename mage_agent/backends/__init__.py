"""Where replies of language models come from, one file a backend. See :mod:`mage_agent.backends.base`."""
