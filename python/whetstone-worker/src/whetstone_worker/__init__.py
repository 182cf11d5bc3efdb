"""Engines of Whetstone that run elsewhere. The server is the only brain; a worker may die at any moment."""
