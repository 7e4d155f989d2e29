"""What the operating system knows of a process."""

import os
import time
from pathlib import Path
from statistics import median


POOLS = ("mcp-pool", "blocking-", "smol-", "tokio-")
"""What the threads are called that runtimes start when they are needed, and keep."""


class Watch:
    """Looks at a process now and then."""

    def __init__(self, pid):
        self.proc = Path(f"/proc/{pid}")
        self.samples = []

    def rss(self):
        """Resident memory in KiB."""
        for line in (self.proc / "status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        return 0

    def held(self):
        """How many descriptors there are, and threads, without those that pools keep."""
        threads = sum(not self.name(task).startswith(POOLS) for task in (self.proc / "task").iterdir())
        return len(os.listdir(self.proc / "fd")), threads

    def name(self, task):
        try:
            return (task / "comm").read_text()
        except OSError:
            # It has ended meanwhile.
            return POOLS[0]

    def sample(self):
        self.samples.append((time.monotonic(), self.rss()))

    def windows(self):
        """Medians of the middle and of the last third of the run: the first is for warming up."""
        third = len(self.samples) // 3
        sizes = [size for _, size in self.samples]
        return median(sizes[third : 2 * third] or [0]), median(sizes[2 * third :] or [0])
