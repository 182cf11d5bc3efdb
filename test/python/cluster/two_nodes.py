"""A Ray cluster on this machine for a test: a head, which has GCS and no workers, and two nodes that have room for workers.

Prints {"address": …} when it is ready. Then one JSON command a line on stdin, one answer a line on stdout: {"kill": NODE_ID} ends
a node with SIGKILL, as a lost machine; {"add": true} brings another. The end of stdin ends everything.
"""

import json
import sys
from typing import Any

from ray.cluster_utils import Cluster

HERE = "127.0.0.2"  # 127.0.0.1 would become this machine's address in the network
ROOM = {"node_ip_address": HERE, "num_cpus": 2, "num_gpus": 2, "object_store_memory": 100 << 20}  # the GPUs are only counted
HEAD = {"node_ip_address": HERE, "num_cpus": 0, "object_store_memory": 100 << 20, "include_dashboard": False}


def obey(cluster: Cluster, command: dict[str, Any]) -> dict[str, Any]:
    if "kill" in command:
        (node,) = [node for node in cluster.list_all_nodes() if node.node_id == command["kill"]]
        cluster.remove_node(node, allow_graceful=False)
        return {"killed": node.node_id}
    return {"added": cluster.add_node(**ROOM).node_id}


def say(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)


def main() -> None:
    cluster = Cluster(initialize_head=True, head_node_args=HEAD)
    try:
        for _ in range(2):
            cluster.add_node(**ROOM)
        say({"address": cluster.address})
        for line in sys.stdin:
            say(obey(cluster, json.loads(line)))
    finally:
        cluster.shutdown()


main()
