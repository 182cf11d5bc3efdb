"""Workers on a Ray cluster: which of them should exist, where they run, and how they are kept running. Ray places and restarts
actors and finds nodes; the rest of this package is what a worker computes and how it talks to its server.
"""
