"""What a seed means: a run of four nodes, and how rank 0 loses the others or is stopped."""
import random

NODES = 4
ROUNDS = 2000
LOG_EVERY = 50
CHECKPOINT_EVERY = 200
PEER_TIMEOUT_S, MIN_PEER_TIMEOUT_S = 3, 2
# Rounds of a few milliseconds, also of a node that is alone: both sides train for seconds.
SLOW = 15

# What happens to rank 0. A cut takes its host's network and the store away together; a stop is
# SIGSTOP in the middle of a write, until the others have ended.
CUTS = ["cut", "healed while they train", "healed after"]
# Of each write: the files that rank 0 writes then, below the run directory.
WRITES = {
    "metrics": "metrics.jsonl",
    "model": "model.safetensors.tmp.*",
    "summary": "summary.json.tmp.*",
    "checkpoint's part": "checkpoints/round-*/node-0.safetensors.tmp.*",
    "checkpoint's model": "checkpoints/round-*/model.safetensors.tmp.*",
    "manifest": "checkpoints/round-*/manifest.textproto.tmp.*",
}
AT_THE_END = {"model", "summary"}
FAULTS = CUTS + ["stopped: " + write for write in WRITES]
ALGORITHMS = ["dpsgd", "sgp", "allreduce", "average:every=4"]
# Whose nodes go on without the lost where they are not told to end.
GOSSIP = {"dpsgd", "sgp"}


class Plan:
    """A schedule. Every nine seeds in a row have every fault once."""

    def __init__(self, seed):
        draw = random.Random(f"split brain {seed}")
        self.seed = seed
        self.fault = FAULTS[seed % len(FAULTS)]
        self.algorithm = draw.choice(ALGORITHMS)
        self.store = draw.choice(["etcd", "folder"])
        # How a folder goes: it cannot be written any more, or is not there any more.
        self.loss = draw.choice(["read-only", "gone"]) if self.store == "folder" else "unreachable"
        self.shares_run = draw.random() < 0.6  # one run directory, or one for each host
        self.min_nodes = draw.choice([None, None, None, 1, 2, 3])
        self.begin = LOG_EVERY * draw.randint(2, 12)  # the round at which a cut begins
        self.delay_s = draw.random() * 1.5  # from the role's move to the healing
        self.saves = draw.random() < 0.5 or self.stops_in_checkpoint
        if self.write == "checkpoint's model":  # which there is where one node sees all parts
            self.shares_run = True
        self.occurrence = self.draw_occurrence(draw)

    def draw_occurrence(self, draw):
        """At the how manieth write rank 0 is stopped; 0 where it is not."""
        if self.write is None:
            return 0
        if self.write in AT_THE_END:
            return 1
        return draw.randint(1, 4) if self.stops_in_checkpoint else draw.randint(2, 20)

    @property
    def write(self):
        """What rank 0 is stopped in the middle of; None where it is cut off."""
        return self.fault.removeprefix("stopped: ") if self.fault not in CUTS else None

    @property
    def stops_in_checkpoint(self):
        return self.write is not None and WRITES[self.write].startswith("checkpoints/")

    def run_directory(self, folder, rank):
        return folder / "runs" / ("run" if self.shares_run else f"run-of-{rank}")

    def command(self, program, folder, rank):
        """What node `rank` is started with, on host rank + 1."""
        place = "etcd:node5:2379/run" if self.store == "etcd" else f"file:{folder}/store"
        shrinks = self.saves or (self.algorithm not in GOSSIP and self.min_nodes is None)
        return [str(program), "node", f"--rank={rank}", f"--world-size={NODES}",
                f"--coordinator={place}", "--insecure", f"--algorithm={self.algorithm}",
                "--model=softmax", "--data=synthetic:train=512:test=200", "--batch=8",
                f"--rounds={ROUNDS}", f"--log-every={LOG_EVERY}", "--eval-every=10",
                f"--peer-timeout={PEER_TIMEOUT_S}s", f"--min-peer-timeout={MIN_PEER_TIMEOUT_S}s",
                "--rendezvous-timeout=10s", "--log-level=info",
                *(f"--chaos=slow:rank={slow}:factor={SLOW}" for slow in range(NODES)),
                *([f"--checkpoint-every={CHECKPOINT_EVERY}"] if self.saves else []),
                *(["--on-failure=shrink"] if shrinks else []),
                *([f"--min-nodes={self.min_nodes}"] if self.min_nodes is not None else []),
                f"--out={self.run_directory(folder, rank)}"]

    def __str__(self):
        least = "" if self.min_nodes is None else f", --min-nodes={self.min_nodes}"
        place = "one run directory" if self.shares_run else "a run directory each"
        when = f" at round {self.begin}" if self.write is None else f" (time {self.occurrence})"
        return (f"{self.algorithm}, {self.store} ({self.loss}), {place}"
                f"{', checkpoints' if self.saves else ''}{least}: {self.fault}{when}")
