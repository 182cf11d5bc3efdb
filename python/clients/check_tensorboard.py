"""Reads an event file that Whetstone wrote with the official tensorboard package: every record, every scalar.

Usage: check_tensorboard.py DIRECTORY. Prints {tag: [[step, wall time, value], …]} as JSON.
"""

import json
import sys
from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader


def main(directory: str) -> None:
    (path,) = Path(directory).iterdir()
    records = list(RawEventFileLoader(str(path)).Load())  # verifies checksums, and stops at the first wrong one
    events = EventAccumulator(directory, size_guidance={"scalars": 0})
    events.Reload()
    scalars = {
        tag: [[event.step, event.wall_time, event.value] for event in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
    }
    print(json.dumps({"records": len(records), "version": events.file_version, "scalars": scalars}))


main(sys.argv[1])
