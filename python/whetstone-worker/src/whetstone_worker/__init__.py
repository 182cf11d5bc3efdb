"""Workers that run Whetstone's engines on other machines. The server makes all decisions; a worker may die at any time."""
