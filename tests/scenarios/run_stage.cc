// Whole nodes on virtual time (tests/node/whole_node): a script breaks them.
#include <deque>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "tests/node/whole_node/simulated_run.h"
#include "tests/scenarios/stage.h"

namespace grapevine::testing {
namespace {

class RunStage final : public Stage {
 public:
  explicit RunStage(RunPlan plan) : plan_(std::move(plan)) {}

  absl::StatusOr<std::string> Do(const std::string& command) override {
    Words words(command);
    absl::Status done = Obey(words, command);
    done.Update(words.error());
    RETURN_IF_ERROR(done);
    if (!words.empty()) return UnknownCommand(command);
    return std::exchange(told_, "");
  }

 private:
  absl::Status Obey(Words& words, const std::string& command) {
    using Kind = Fault::Kind;
    if (words.Skip("without")) return Plan({.kind = Kind::kNeverComes}, words);
    if (words.Skip("misconfigure")) return Plan({.kind = Kind::kMisfit}, words);
    if (words.Skip("diverge")) return Plan({.kind = Kind::kDiverges}, words);
    if (words.Skip("until")) return Until(words);
    if (words.Skip("kill")) return Break({.kind = Kind::kKill}, words);
    if (words.Skip("lose")) return Break({.kind = Kind::kLostHost}, words);
    if (words.Skip("interrupt")) return Break({.kind = Kind::kInterrupt}, words);
    if (words.Skip("stop")) return Break({.kind = Kind::kPause}, words);
    if (words.Skip("reset")) return Break({.kind = Kind::kReset}, words);
    if (words.Skip("cut")) return Break({.kind = Kind::kPartition}, words);
    return UnknownCommand(command);
  }

  // "diverge 1 in round 3": before anything has begun.
  absl::Status Plan(Fault fault, Words& words) {
    if (run_ != nullptr) return absl::FailedPreconditionError("it has begun");
    fault.a = static_cast<Rank>(words.Number());
    if (words.Skip("in") && words.Skip("round")) fault.round = words.Number();
    plan_.faults.push_back(fault);
    return absl::OkStatus();
  }

  // "kill 2", "stop 1 for 3 s", "cut 0 1 for 1 s", "reset 0 1".
  absl::Status Break(Fault fault, Words& words) {
    const std::vector<Rank> ranks = words.Ranks(plan_.nodes);
    RETURN_IF_ERROR(words.error());
    fault.a = ranks.front();
    fault.b = ranks.back();
    if (words.Skip("for")) fault.lasts = words.Time();
    Run().Happen(fault);
    return absl::OkStatus();
  }

  // "until 0.5 s", "until rank 2 is done", "until the end".
  absl::Status Until(Words& words) {
    if (words.Skip("the") && words.Skip("end")) {
      const absl::Status status = Run().Run(std::chrono::minutes(5));
      Tell();
      return status;
    }
    if (words.Skip("rank")) return UntilState(words);
    Run().RunUntil(words.Time());
    Tell();
    return absl::OkStatus();
  }

  // "until rank 2 is done".
  absl::Status UntilState(Words& words) {
    const Rank rank = static_cast<Rank>(words.Number());
    words.Skip("is");
    const std::string state = words.Take();
    RETURN_IF_ERROR(words.error());
    const bool reached = rank < plan_.nodes && Run().RunUntil([&] {
      return Run().node(rank).State().starts_with(state);
    });
    Tell();
    return reached ? absl::OkStatus() : absl::FailedPreconditionError("it never is");
  }

  SimulatedRun& Run() {
    if (run_ == nullptr) run_ = std::make_unique<SimulatedRun>(plan_);
    return *run_;
  }

  // Every node's state, those alike together.
  void Tell() {
    std::vector<std::pair<std::string, std::vector<Rank>>> states;
    for (Rank rank = 0; rank < plan_.nodes; ++rank) {
      const std::string state = StateOf(rank);
      auto same =
          std::ranges::find(states, state, &std::pair<std::string, std::vector<Rank>>::first);
      if (same == states.end()) same = states.insert(states.end(), {state, {}});
      same->second.push_back(rank);
    }
    for (const auto& [state, ranks] : states) {
      absl::StrAppend(&told_, absl::StrJoin(ranks, ", "), ": ", state, "\n");
    }
  }
  std::string StateOf(Rank rank) {
    const SimulatedNode& node = Run().node(rank);
    if (!node.ending()) return Run().survives(rank) ? node.State() : "is no more";
    if (node.ending()->ok()) return absl::StrCat("ended well after ", node.round(), " rounds");
    return absl::StrCat("exit code ", ExitCode(*node.ending()), ": ",
                        std::string(node.ending()->message()));
  }

  RunPlan plan_;
  std::unique_ptr<SimulatedRun> run_;
  std::string told_;
};

}  // namespace

// "run of 3 with dpsgd on ring for 100 rounds": gradients of 10 ms, 1 ms of latency, and
// time-outs of 4 s to come, 2 s to be heard, 20 s for a step.
absl::StatusOr<std::unique_ptr<Stage>> MakeRunStage(Words words) {
  RunPlan plan;
  plan.jitter = {};
  plan.gradient = std::chrono::milliseconds(10);
  words.Skip("of");
  plan.nodes = static_cast<Rank>(words.Number());
  words.Skip("with");
  plan.algorithm = words.Take();
  words.Skip("on");
  plan.topology = words.Take();
  words.Skip("for");
  plan.rounds = words.Number();
  words.Skip("rounds");
  if (words.Skip("evaluated") && words.Skip("every")) {
    plan.evaluate_every = words.Number();
    if (words.Skip("in")) plan.evaluation = words.Time();
  }
  RETURN_IF_ERROR(words.error());
  return std::make_unique<RunStage>(std::move(plan));
}

}  // namespace grapevine::testing
