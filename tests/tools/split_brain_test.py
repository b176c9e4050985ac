"""What tools/split_brain draws from seeds, and what it says of runs; the hosts are not tried."""

import json
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.abspath(os.path.join(os.environ.get("TEST_SRCDIR", "."),
                                                os.environ.get("TEST_WORKSPACE", "."),
                                                "tools/split_brain")))

import plan  # pylint: disable=wrong-import-position
import verdict  # pylint: disable=wrong-import-position

RESULTS = "finished\ntest accuracy of the averaged model: 60 %\n"
DONE = "rank is done\n"


class PlanTest(unittest.TestCase):

    def test_a_seed_means_one_plan(self):
        folder = pathlib.Path("folder")
        for seed in range(40):
            commands = [plan.Plan(seed).command("grapevine", folder, 2) for _ in range(2)]
            self.assertEqual(commands[0], commands[1], seed)

    def test_nine_seeds_in_a_row_have_every_fault(self):
        faults = {plan.Plan(seed).fault for seed in range(13, 13 + len(plan.FAULTS))}
        self.assertEqual(faults, set(plan.FAULTS))

    def test_forty_seeds_have_everything_that_is_drawn(self):
        plans = [plan.Plan(seed) for seed in range(40)]
        self.assertEqual({p.algorithm for p in plans}, set(plan.ALGORITHMS))
        self.assertEqual({(p.store, p.loss) for p in plans},
                         {("etcd", "unreachable"), ("folder", "read-only"), ("folder", "gone")})
        self.assertEqual({p.shares_run for p in plans}, {True, False})
        self.assertEqual({p.min_nodes for p in plans}, {None, 1, 2, 3})

    def test_who_is_stopped_in_a_checkpoint_keeps_some(self):
        for seed in range(200):
            drawn = plan.Plan(seed)
            flags = " ".join(drawn.command("grapevine", pathlib.Path("folder"), 0))
            self.assertEqual("--checkpoint-every" in flags, drawn.saves, seed)
            self.assertTrue(drawn.saves or not drawn.stops_in_checkpoint, seed)
            self.assertEqual(drawn.occurrence > 0, drawn.write is not None, seed)

    def test_allreduces_are_told_to_go_on(self):
        for seed in range(200):
            drawn = plan.Plan(seed)
            flags = " ".join(drawn.command("grapevine", pathlib.Path("folder"), 0))
            if drawn.algorithm not in plan.GOSSIP:
                self.assertTrue("--on-failure=shrink" in flags or "--min-nodes=" in flags, seed)


class VerdictTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_directory(self, name="run", rounds=(50, plan.ROUNDS), living=3, members=(1, 2, 3)):
        """That of a run that the others have finished."""
        run = self.folder / name
        (run / "checkpoints" / "round-50").mkdir(parents=True)
        (run / "summary.json").write_text(json.dumps(
            {"rounds": plan.ROUNDS, "test_loss": 1.25, "test_accuracy": 0.5}))
        (run / "metrics.jsonl").write_text("".join(
            json.dumps({"round": number, "living": living}) + "\n" for number in rounds))
        (run / "model.safetensors").write_bytes(b"weights")
        (run / "checkpoints" / "round-50" / "manifest.textproto").write_text(
            "round: 50\n" + "".join(f"members: {rank}\n" for rank in members))
        return run

    def outcome(self, run, **changes):
        outcome = verdict.Outcome(exits=[6, 0, 0, 0],
                                  outputs=["rank 0: others have its role", RESULTS, DONE, DONE],
                                  runs=[run] * plan.NODES,
                                  evaluation={"loss": 1.25, "accuracy": 0.5},
                                  resumed=(0, ""))
        for name, value in changes.items():
            setattr(outcome, name, value)
        return outcome

    def assert_wrong(self, outcome, *texts):
        wrong = verdict.judge(outcome)
        self.assertEqual(len(wrong), len(texts), wrong)
        for text, found in zip(texts, wrong):
            self.assertIn(text, found)

    def test_nothing_is_wrong_where_the_others_finish(self):
        self.assert_wrong(self.outcome(self.run_directory()))

    def test_nothing_is_wrong_where_all_finish_together(self):
        run = self.run_directory(living=4, members=())
        self.assert_wrong(self.outcome(run, exits=[0] * 4, outputs=[RESULTS, DONE, DONE, DONE]))

    def test_two_that_finish(self):
        self.assert_wrong(self.outcome(self.run_directory(), exits=[0] * 4,
                                       outputs=[RESULTS, RESULTS, DONE, DONE]),
                          "two finished: ranks 0 and 1")

    def test_rank_zero_alone(self):
        run = self.run_directory(living=1, members=(0,))
        self.assert_wrong(self.outcome(run, exits=[0, 6, 6, 6],
                                       outputs=[RESULTS + "1 of 4 nodes go on", "", "", ""]),
                          "rank 0 finished without ranks [1, 2, 3]",
                          "rank 0 agrees on a view of 1 alone",
                          "of the smaller side: 1 living", "is of [0] alone")

    def test_nobody_finishes(self):
        self.assert_wrong(self.outcome(self.run_directory(), exits=[6] * 4, evaluation=None),
                          "nobody finished")

    def test_results_on_the_disk_of_rank_zero_alone(self):
        own = self.run_directory("run-of-0")
        runs = [own] + [self.folder / f"run-of-{rank}" for rank in verdict.OTHERS]
        outputs = ["", "", "the run has come to its end, but its results are not in run-of-2", ""]
        outcome = self.outcome(own, runs=runs, outputs=outputs, exits=[6] * 4, evaluation=None)
        self.assert_wrong(outcome)
        self.assert_wrong(self.outcome(own, runs=runs, exits=[6] * 4, evaluation=None,
                                       outputs=[""] * 4), "nobody finished")
        (own / "model.safetensors").unlink()
        self.assert_wrong(outcome, "nobody finished")

    def test_one_does_not_end(self):
        self.assert_wrong(self.outcome(self.run_directory(), exits=[None, 0, 0, 0], left_behind=2),
                          "rank 0 does not end", "2 processes are left")

    def test_rank_zero_ends_as_for_another_reason(self):
        self.assert_wrong(self.outcome(self.run_directory(), exits=[4, 0, 0, 0]),
                          "rank 0 ends with 4")

    def test_two_writers_of_metrics(self):
        run = self.run_directory(rounds=(50, plan.ROUNDS, 100, plan.ROUNDS))
        self.assert_wrong(self.outcome(run), f"two writers: round {plan.ROUNDS}, then 100")

    def test_a_line_that_is_torn(self):
        run = self.run_directory()
        with (run / "metrics.jsonl").open("a") as file:
            file.write('{"round": 19')
        self.assert_wrong(self.outcome(run), "line 3 of metrics.jsonl is torn")

    def test_a_model_of_another_side(self):
        self.assert_wrong(self.outcome(self.run_directory(),
                                       evaluation={"loss": 1.5, "accuracy": 0.5}),
                          "model.safetensors is of another side: loss 1.5, in summary.json 1.25")

    def test_results_that_are_not_whole(self):
        run = self.run_directory()
        (run / "model.safetensors").unlink()
        self.assert_wrong(self.outcome(run), "model.safetensors missing from the results")

    def test_results_in_two_folders(self):
        run, own = self.run_directory(), self.run_directory("run-of-0")
        self.assert_wrong(self.outcome(run, runs=[own, run, run, run]),
                          "run-of-0 has results of a run that others finished")

    def test_files_that_change_afterwards(self):
        run = self.run_directory()
        before = verdict.run_files(run)
        self.assertEqual(set(before), {"summary.json", "metrics.jsonl", "model.safetensors",
                                       "checkpoints/round-50/manifest.textproto"})
        self.assert_wrong(self.outcome(run, changed=["summary.json"]),
                          "summary.json changed after the run was over")

    def test_a_run_that_does_not_go_on(self):
        self.assert_wrong(self.outcome(self.run_directory(), resumed=(4, "no such part")),
                          "does not go on: exit 4")

    def test_the_checkpoint_to_go_on_from_is_not_the_last_round(self):
        run = self.run_directory()
        last = run / "checkpoints" / f"round-{plan.ROUNDS}"
        last.mkdir()
        (last / "manifest.textproto").write_text("")
        self.assertEqual(verdict.checkpoint_to_go_on_from(run).name, "round-50")


if __name__ == "__main__":
    unittest.main()
