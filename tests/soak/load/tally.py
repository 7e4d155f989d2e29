"""What is counted while the load runs."""

import asyncio
import collections
import random
import time


class Tally:
    def __init__(self, seconds, seed):
        self.until = time.monotonic() + seconds
        self.random = random.Random(seed)
        self.good = collections.Counter()
        """Calls of good clients that ended once and with the right answer, by kind."""
        self.bad = collections.Counter()
        """What was done to the server, by kind."""
        self.problems = []

    @property
    def running(self):
        return time.monotonic() < self.until

    def problem(self, what):
        if len(self.problems) < 100:
            self.problems.append(what)

    async def repeat(self, kind, once, pause=0.0):
        """Does it until the time is over. A good client has no excuse, so each exception is a problem."""
        while self.running:
            try:
                await once(self)
            except Exception as error:
                self.problem(f"{kind}: {type(error).__name__}: {error}")
                await asyncio.sleep(0.2)
            await asyncio.sleep(pause * (0.5 + self.random.random()))
