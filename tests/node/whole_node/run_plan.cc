#include "tests/node/whole_node/run_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "algorithm/algorithm_kind.h"
#include "base/units.h"
#include "optim/batch_schedule.h"
#include "random/keyed_random.h"

namespace grapevine::testing {
namespace {

std::string InSeconds(std::chrono::nanoseconds time) {
  return absl::StrFormat("%.6g s", Seconds(time));
}

std::string What(const Fault& fault) {
  const std::string between = absl::StrCat(" between ", fault.a, " and ", fault.b);
  switch (fault.kind) {
    case Fault::Kind::kKill:
      return absl::StrCat("kill ", fault.a);
    case Fault::Kind::kPause:
      return absl::StrCat("pause ", fault.a, " for ", InSeconds(fault.lasts));
    case Fault::Kind::kReset:
      return absl::StrCat("reset", between);
    case Fault::Kind::kCut:
      return absl::StrCat("cut the edges", between, " for ", InSeconds(fault.lasts));
    case Fault::Kind::kCutControl:
      return absl::StrCat("cut ", fault.a, " off from rank 0's control for ",
                          InSeconds(fault.lasts));
    case Fault::Kind::kPartition:
      return absl::StrCat("partition", between, " for ", InSeconds(fault.lasts));
    case Fault::Kind::kLostHost:
      return absl::StrCat("lose the host of ", fault.a);
    case Fault::Kind::kStoreAway:
      return absl::StrCat("cut ", fault.a, " off from the store for ", InSeconds(fault.lasts));
    case Fault::Kind::kStoreDown:
      return absl::StrCat("the store is down for ", InSeconds(fault.lasts));
    case Fault::Kind::kLeasesLost:
      return "the store loses all leases";
    case Fault::Kind::kInterrupt:
      return absl::StrCat("interrupt ", fault.a);
    case Fault::Kind::kTerminate:
      return absl::StrCat("terminate ", fault.a);
    case Fault::Kind::kNeverComes:
      return absl::StrCat(fault.a, " never comes");
    case Fault::Kind::kMisfit:
      return absl::StrCat(fault.a, " has another configuration");
    case Fault::Kind::kOtherToken:
      return absl::StrCat(fault.a, " has another token");
    case Fault::Kind::kDiverges:
      return absl::StrCat(fault.a, " diverges in round ", fault.round);
  }
  return "";
}

}  // namespace

bool IsTimed(const Fault& fault) {
  return fault.kind != Fault::Kind::kNeverComes && fault.kind != Fault::Kind::kMisfit &&
         fault.kind != Fault::Kind::kOtherToken && fault.kind != Fault::Kind::kDiverges;
}

std::string Describe(const Fault& fault) {
  return IsTimed(fault) ? absl::StrCat(What(fault), " at ", InSeconds(fault.at)) : What(fault);
}

std::string Describe(const RunPlan& plan) {
  std::string text = absl::StrCat(
      "seed ", plan.seed, ": ", plan.token ? "with a token, " : "",
      plan.resilient ? "resilient, " : "", plan.role_moves ? "with a store, " : "",
      plan.begin_nodes > 0 ? absl::StrCat("begun by at least ", plan.begin_nodes, ", ") : "",
      plan.least ? absl::StrCat("at least ", *plan.least, " of them, ") : "", plan.algorithm,
      " on ", plan.topology, " of ", plan.nodes, ", window ", plan.window, ", ", plan.rounds,
      " rounds",
      plan.open_ended() ? absl::StrCat(", programs of ", absl::StrJoin(plan.programs, ", "),
                                       " gradients", plan.ends_all ? ", the first ends all" : "")
                        : "",
      plan.evaluate_every > 0 ? absl::StrCat(", evaluated every ", plan.evaluate_every) : "",
      plan.tells() ? " and told" : "",
      plan.batch_schedule.empty() ? "" : absl::StrCat(", batches ", plan.batch_schedule),
      plan.checkpoint_every
          ? absl::StrCat(", checkpoints every ", InSeconds(*plan.checkpoint_every))
          : "",
      plan.saved_every > 0 ? absl::StrCat(", checkpoints every ", plan.saved_every, " rounds") : "",
      plan.target_met_in ? absl::StrCat(", target met in round ", *plan.target_met_in) : "",
      ", latency ", InSeconds(plan.latency), " + ", InSeconds(plan.jitter), ", gradient ",
      InSeconds(plan.gradient), ", evaluation ", InSeconds(plan.evaluation), ", last evaluation ",
      InSeconds(plan.last_evaluation), ", peer timeout ",
      plan.min_peer_timeout ? absl::StrCat(InSeconds(*plan.min_peer_timeout), " to ") : "",
      InSeconds(plan.peer_timeout), ", step timeout ", InSeconds(plan.step_timeout));
  for (const Fault& fault : plan.faults) absl::StrAppend(&text, "; ", Describe(fault));
  return text;
}

bool Renews(const RunPlan& plan) {
  return !HasRounds(plan.algorithm) && (plan.saved_every > 0 || plan.checkpoint_every);
}

bool Evaluated(const RunPlan& plan, Round completed) {
  return plan.evaluate_every > 0 && completed % plan.evaluate_every == 0;
}

grapevine::RunPlan Beforehand(const RunPlan& plan) {
  grapevine::RunPlan rounds{.extent = {.rounds = plan.most_rounds()},
                            .rounds = plan.most_rounds(),
                            .open_ended = plan.open_ended(),
                            .evaluate_every = static_cast<double>(plan.evaluate_every)};
  if (!plan.batch_schedule.empty()) {
    rounds.batches = *BatchSchedule::Make(plan.batch_schedule, rounds.extent);
  }
  return rounds;
}

EvaluationRecord EvaluationOf(const RunPlan& plan, Round completed) {
  KeyedRandom random(plan.seed, Purpose::kGradientNoise, static_cast<uint64_t>(completed));
  return {.round = completed,
          .test_loss = random.Unit(),
          .test_accuracy = plan.target_met_in && completed >= *plan.target_met_in ? 1 : 0};
}

Round LastRound(const RunPlan& plan) {
  if (!plan.target_met_in) return plan.rounds;
  const Round every = plan.evaluate_every;
  const Round meets = (std::max<Round>(*plan.target_met_in, 1) + every - 1) / every * every;
  return std::min(meets + every, plan.rounds);
}

}  // namespace grapevine::testing
