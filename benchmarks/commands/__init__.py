"""The commands of ``benchmark``, one file each: a function that is decorated with ``app.command``."""
