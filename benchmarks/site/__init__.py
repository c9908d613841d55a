"""The static web page of boards and replays: ``build.py`` makes it, ``static/`` is what a browser gets as it stands."""
