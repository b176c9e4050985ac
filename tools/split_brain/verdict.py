"""What must hold of a run whose rank 0 was lost to the others, or they to it. Pure but for files.

One side at most comes to the end, in time and leaving nobody behind; a run directory is written by
one side, and nothing of it changes once the run is over. A side is known by its size: the others
are all but rank 0.
"""
import dataclasses
import json
import pathlib
import re

from plan import NODES, ROUNDS

OTHERS = list(range(1, NODES))
RUN_FILES = ["summary.json", "metrics.jsonl", "model.safetensors"]
HAS_RESULTS = "test accuracy of the averaged model"
# Of the others, where rank 0 went with the results on a disk of its own.
RESULTS_ELSEWHERE = "its results are not in"
PEER_LOST = 6  # the exit code
# A loss that is computed twice, in sums of another order.
SAME = 1e-6


@dataclasses.dataclass
class Outcome:
    """How a schedule ended. By rank: the exit code (None: it did not end), what it has said."""

    exits: list
    outputs: list
    runs: list  # the run directory
    left_behind: int = 0  # processes
    changed: list = dataclasses.field(default_factory=list)  # files, after the run was over
    evaluation: dict = None  # of the results' model: `loss` and `accuracy`
    resumed: tuple = None  # exit code and output of the run that goes on

    def winners(self):
        """The ranks that say that they have the run's results."""
        return [rank for rank, code in enumerate(self.exits)
                if code == 0 and HAS_RESULTS in self.outputs[rank]]


def read_lines(file):
    """The objects of a file of JSON lines, and what is wrong with it."""
    lines = []
    for number, text in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            lines.append(json.loads(text))
        except ValueError:
            return lines, f"line {number} of {file.name} is torn: {text[:80]}"
    return lines, ""


def wrong_metrics(run):
    """What shows two writers in a run's metrics."""
    file = run / "metrics.jsonl"
    if not file.exists():
        return ["metrics.jsonl is missing"]
    lines, torn = read_lines(file)
    wrong = [torn] if torn else []
    for before, after in zip(lines, lines[1:]):
        if after["round"] <= before["round"]:
            wrong.append(f"metrics.jsonl has two writers: round {before['round']}, "
                         f"then {after['round']}")
            break
    return wrong


def wrong_side(run):
    """What the smaller side has written, in whichever folder."""
    file = run / "metrics.jsonl"
    lines = read_lines(file)[0] if file.exists() else []
    few = [line for line in lines if line.get("living", NODES) < len(OTHERS)]
    return [f"metrics.jsonl is of the smaller side: {few[0]['living']} living "
            f"at round {few[0]['round']}"] if few else []


def manifests(run):
    """(round, manifest) of complete checkpoints, the last one last."""
    return sorted((int(file.parent.name.partition("-")[2]), file)
                  for file in (run / "checkpoints").glob("round-*/manifest.textproto"))


def members(manifest):
    """The ranks that a manifest names; none is all."""
    return list(map(int, re.findall(r"^members: (\d+)$", manifest.read_text(encoding="utf-8"),
                                    re.MULTILINE)))


def wrong_checkpoints(run):
    return [f"the checkpoint of round {round} is of {members(file)} alone"
            for round, file in manifests(run)
            if members(file) and not set(OTHERS) <= set(members(file))]


def wrong_results(run, evaluation):
    """What does not fit together in the results."""
    missing = [name for name in RUN_FILES if not (run / name).exists()]
    if missing:
        return [f"{', '.join(missing)} missing from the results"]
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    last, _ = read_lines(run / "metrics.jsonl")
    wrong = []
    if summary["rounds"] != ROUNDS:
        wrong.append(f"summary.json is of {summary['rounds']} rounds")
    if last and last[-1]["round"] != summary["rounds"]:
        wrong.append(f"summary.json is of round {summary['rounds']}, "
                     f"metrics.jsonl of {last[-1]['round']}")
    for key, name in (("test_loss", "loss"), ("test_accuracy", "accuracy")):
        if abs(summary[key] - evaluation[name]) > SAME * max(1, abs(summary[key])):
            wrong.append(f"model.safetensors is of another side: {name} {evaluation[name]:.6g}, "
                         f"in summary.json {summary[key]:.6g}")
    return wrong


def wrong_views(outcome):
    """Agreements of rank 0 with fewer than the others are."""
    return [f"rank 0 agrees on a view of {count} alone"
            for count in re.findall(r"(\d) of \d nodes go on", outcome.outputs[0])
            if int(count) < len(OTHERS)][:1]


def left_elsewhere(outcome):
    """Whether the others say that the results are on rank 0's own disk, and the model is there."""
    return (outcome.runs[0] not in outcome.runs[1:]
            and (outcome.runs[0] / "model.safetensors").exists()
            and all(outcome.exits[rank] == PEER_LOST for rank in OTHERS)
            and any(RESULTS_ELSEWHERE in outcome.outputs[rank] for rank in OTHERS))


def wrong_ends(outcome):
    stuck = [rank for rank, code in enumerate(outcome.exits) if code is None]
    wrong = [f"rank {rank} does not end" for rank in stuck]
    if outcome.left_behind:
        wrong.append(f"{outcome.left_behind} processes are left")
    winners = outcome.winners()
    if len(winners) > 1:
        wrong.append(f"two finished: ranks {winners[0]} and {winners[1]}")
    if not winners and not stuck and not left_elsewhere(outcome):
        wrong.append(f"nobody finished: exits {outcome.exits}")
    if outcome.exits[0] not in (0, PEER_LOST, None):
        wrong.append(f"rank 0 ends with {outcome.exits[0]}")
    # With the others, rank 0 is one of all; without them its run is none.
    apart = [rank for rank in OTHERS if outcome.exits[rank] not in (0, None)]
    if len(winners) == 1 and winners[0] == 0 and apart:
        wrong.append(f"rank 0 finished without ranks {apart}")
    return wrong


def judge(outcome):
    """All that is wrong, in words; empty: nothing."""
    wrong = wrong_ends(outcome) + wrong_views(outcome)
    winners = outcome.winners()
    for run in dict.fromkeys(outcome.runs):
        wrong += wrong_side(run) + wrong_checkpoints(run)
        if (run / "summary.json").exists() and winners and run not in (
                outcome.runs[rank] for rank in winners):
            wrong.append(f"{run.name} has results of a run that others finished")
    if winners:
        run = outcome.runs[winners[-1]]  # the others', where both sides finished
        wrong += wrong_metrics(run)
        if outcome.evaluation is not None:
            wrong += wrong_results(run, outcome.evaluation)
    wrong += [f"{name} changed after the run was over" for name in outcome.changed]
    if outcome.resumed is not None and outcome.resumed[0] != 0:
        wrong.append(f"does not go on: exit {outcome.resumed[0]}")
    return wrong


def checkpoint_to_go_on_from(run):
    """The last complete one that a run can go on from; none: None."""
    found = [file.parent for round, file in manifests(run) if round < ROUNDS]
    return found[-1] if found else None


def run_files(run):
    """The contents of what the whole run has written, by name."""
    files = [run / name for name in RUN_FILES] + [file for _, file in manifests(run)]
    return {str(file.relative_to(run)): file.read_bytes()
            for file in map(pathlib.Path, files) if file.exists()}
