"""`python -m whetstone_worker`."""

import sys

from whetstone_worker.cli import main

sys.exit(main())
