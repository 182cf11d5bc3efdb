"""Workers on a Ray cluster: which there should be, where they run, how they are kept running. Ray places, restarts and finds
nodes; what a worker computes and how it speaks to its server is the rest of this package.
"""
