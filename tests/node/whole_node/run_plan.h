// The plan of a simulated run: its settings and its faults. Plain values.
#ifndef GRAPEVINE_TESTS_NODE_WHOLE_NODE_RUN_PLAN_H_
#define GRAPEVINE_TESTS_NODE_WHOLE_NODE_RUN_PLAN_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "experiment/core/run_plan.h"
#include "model/problem/problem.h"
#include "run/records/metrics.h"

namespace grapevine::testing {

struct Fault {
  enum class Kind {
    kKill,        // of `a`
    kPause,       // of `a` for `lasts`
    kReset,       // of all connections between `a` and `b`
    kCut,         // of the edges between `a` and `b`, which are refused for `lasts`
    kCutControl,  // of the connection between `a` and rank 0, which is refused for `lasts`
    kPartition,   // between `a` and `b` for `lasts`
    kLostHost,    // of `a`: nothing passes any more, and nobody is told
    kStoreAway,   // from `a` for `lasts`: neither requests nor answers pass
    kStoreDown,   // for all, for `lasts`
    kLeasesLost,  // by the store
    kInterrupt,   // of `a`, as by SIGTERM
    kTerminate,   // likewise of a run that keeps checkpoints: it ends with one
    kNeverComes,  // `a` is not started
    kMisfit,      // `a` is started with another configuration
    kOtherToken,  // `a` is started with another token
    kDiverges,    // the loss of `a`, in round `round`
  };
  Kind kind = Kind::kKill;
  std::chrono::nanoseconds at{0};  // since the start
  Rank a = 0;
  Rank b = 0;
  std::chrono::nanoseconds lasts{0};
  Round round = 0;
};

// Whether it happens at some time; otherwise it exists from the start.
bool IsTimed(const Fault& fault);

// "kill 2 at 0.1 s", ...
std::string Describe(const Fault& fault);

struct RunPlan {
  uint64_t seed = 1;   // of latencies and the order of events
  bool token = false;  // the nodes share one
  Rank nodes = 4;
  std::string algorithm = "dpsgd";
  std::string topology = "ring";
  int window = 1;
  Round rounds = 6;
  // How many gradients each node's program gives, where the run ends once all have given theirs
  // (node/control/closing.h), in about so many rounds. Else empty.
  std::vector<Round> programs;
  bool ends_all = false;     // the first to have given its own ends the others' loops
  Round evaluate_every = 0;  // never
  // The first evaluation of this round or a later one meets the target accuracy, if the run has
  // one; its end is then not known beforehand.
  std::optional<Round> target_met_in;
  // "plateau..." (optim/batch_schedule.h), of the losses below: rounds are then of the first batch,
  // as many as there are if the batch does not grow, and the last one is evaluated, too. Else
  // empty.
  std::string batch_schedule;
  std::chrono::nanoseconds latency{1000000};
  std::chrono::nanoseconds jitter{1000000};
  std::chrono::nanoseconds gradient{5000000};         // mean time of one
  std::chrono::nanoseconds evaluation{3000000};       // of an averaged model
  std::chrono::nanoseconds last_evaluation{3000000};  // of a node's own model, at the end
  std::chrono::milliseconds rendezvous_timeout{4000};
  std::chrono::milliseconds peer_timeout{2000};
  std::optional<std::chrono::milliseconds> min_peer_timeout;
  std::chrono::milliseconds step_timeout{20000};
  bool resilient = false;  // nodes go on without those that are lost; the last round is evaluated
  Rank begin_nodes = 0;    // of those, as many may begin; 0: all
  // --min-nodes: with fewer nodes the run ends, or waits for newcomers. None: it is not given
  // (algorithm/membership/quorum.h).
  std::optional<Rank> least = 1;
  bool waits = false;
  // Likewise without rank 0, whose role another takes over: there is a store.
  bool role_moves = false;
  // The run keeps checkpoints, by this time; their parts are nowhere written.
  std::optional<std::chrono::nanoseconds> checkpoint_every;
  Round saved_every = 0;  // or after so many rounds; 0: not by these
  std::vector<Fault> faults;

  bool open_ended() const { return !programs.empty(); }
  // The rounds that there can be.
  Round most_rounds() const { return open_ended() ? kOpenEndedRounds : rounds; }
  // Whether averaged models are told to all that have a part in them: in every third run.
  bool tells() const { return seed % 3 == 0; }
};

// Whether its nodes save as they go over to another view: they go through no rounds together.
bool Renews(const RunPlan& plan);

// The whole plan in one line.
std::string Describe(const RunPlan& plan);

bool Evaluated(const RunPlan& plan, Round completed);

// What is known beforehand of a run whose batch grows, and the loss and accuracy of its model after
// so many rounds.
grapevine::RunPlan Beforehand(const RunPlan& plan);
EvaluationRecord EvaluationOf(const RunPlan& plan, Round completed);

// The round at which a run without faults ends: one evaluation after the one that meets the
// target.
Round LastRound(const RunPlan& plan);

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_WHOLE_NODE_RUN_PLAN_H_
