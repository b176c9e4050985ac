// Whole nodes, all of a run's on one thread and virtual time: what holds in every
// order of events, and when something breaks.
//
// TEST_SEED=17 plays one seed, with a log of what happened; TEST_SEEDS=100000
// that many:
//   TEST_SEED=17 bazel run tests/node/whole_node:whole_node_test -- --gtest_filter=*Healthy*
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "algorithm/algorithm.h"
#include "algorithm/algorithm_kind.h"
#include "base/status.h"
#include "experiment/core/run_course.h"
#include "random/keyed_random.h"
#include "tests/algorithm/quadratics.h"
#include "tests/node/whole_node/random_plan.h"
#include "tests/node/whole_node/simulated_run.h"
#include "tests/testing/cluster.h"
#include "tests/testing/seeds.h"
#include "tests/testing/sightings.h"
#include "topology/topology.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Far above what time-outs and evaluations can add up to.
constexpr std::chrono::minutes kDeadline{60};

// Of each test, so that all together play more than ten thousand runs.
constexpr uint64_t kSeeds = 450;

void Print(const std::string& line) { std::cout << line << "\n"; }

// What nodes hear of averaged models is what whoever had rank 0's role has had evaluated.
void ExpectThatToldIsEvaluated(const RunPlan& plan, const SimulatedRun& run, Sightings& seen) {
  const std::vector<const AveragedModel*> evaluated = run.Averages();
  int told = 0;
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    for (const AveragedModel& heard : run.node(rank).told()) {
      const auto same = [&](const AveragedModel* average) {
        return average->round == heard.round &&
               std::ranges::equal(average->model.span(), heard.model.span()) &&
               average->consensus_distance == heard.consensus_distance;
      };
      const bool found = std::ranges::any_of(evaluated, same);
      // Who dies has told more than it has evaluated.
      EXPECT_TRUE(found || run.died()) << "rank " << rank << ", round " << heard.round;
      told += found;
    }
  }
  if (plan.tells()) seen.Count("averages that others have heard of", told);
}

// Runs the plans of many seeds, or of one, told in full. What not every run has, checks count: of
// `kSeeds` runs at least so many have it.
void ForEverySeed(RunPlan (*draw)(uint64_t seed),
                  const std::function<void(const RunPlan&, SimulatedRun&, Sightings&)>& check,
                  uint64_t least = 1) {
  const bool only = OnlySeed().has_value();
  PlaySeeds(kSeeds, least, [&](uint64_t seed, Sightings& seen) {
    const RunPlan plan = draw(seed);
    SCOPED_TRACE(Describe(plan));
    if (only) Print(Describe(plan));
    SimulatedRun run(plan, only ? Print : std::function<void(const std::string&)>());
    check(plan, run, seen);
    ExpectThatToldIsEvaluated(plan, run, seen);
  });
}

void ForEverySeed(RunPlan (*draw)(uint64_t seed),
                  const std::function<void(const RunPlan&, SimulatedRun&)>& check) {
  ForEverySeed(draw,
               [&check](const RunPlan& plan, SimulatedRun& run, Sightings&) { check(plan, run); });
}

using GradientFunction = decltype(ClusterOptions::gradient);

std::vector<std::vector<float>> ModelsOfACluster(const RunPlan& plan, Round rounds,
                                                 GradientFunction gradient = Quadratic(1, 1, 11)) {
  Cluster cluster({.algorithm = plan.algorithm,
                   .topology = plan.topology,
                   .nodes = plan.nodes,
                   .parameters = SimulatedNode::kParameters,
                   .buffers = SimulatedNode::kBuffers,
                   .learning_rate = 0.1,
                   .momentum = plan.open_ended() ? 0 : 0.9,
                   .window = plan.window,
                   .gradient = std::move(gradient)});
  EXPECT_TRUE(cluster.Run(rounds).ok());
  std::vector<std::vector<float>> models;
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    models.emplace_back(cluster.replica(rank).begin(), cluster.replica(rank).end());
  }
  return models;
}

// All nodes were measured in every round, and their averages taken.
void ExpectAllMeasurements(const RunPlan& plan, const SimulatedRun& run) {
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    SCOPED_TRACE(absl::StrCat("rank ", rank));
    ASSERT_EQ(*run.node(rank).ending(), absl::OkStatus());
    // Rank 0 has heard of every round, in order.
    const std::vector<Round>& rounds = run.node(0).reported()[rank];
    ASSERT_EQ(rounds.size(), static_cast<size_t>(LastRound(plan)));
    for (Round round = 0; round < LastRound(plan); ++round) ASSERT_EQ(rounds[round], round + 1);
  }
  const auto& averages = run.node(0).averages();
  const Round every = plan.evaluate_every;
  ASSERT_EQ(averages.size(), static_cast<size_t>(every > 0 ? LastRound(plan) / every : 0));
  for (size_t k = 0; k < averages.size(); ++k) {
    ASSERT_EQ(averages[k].round, every * static_cast<Round>(k + 1));
  }
  for (Rank rank = 1; rank < *WorkerCount(plan.algorithm, plan.nodes); ++rank) {
    ASSERT_EQ(run.node(rank).told().size(), plan.tells() ? averages.size() : 0) << "rank " << rank;
  }
}

void ExpectTheBitsOfTheCluster(const RunPlan& plan, const SimulatedRun& run,
                               const std::vector<std::vector<float>>& expected) {
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    SCOPED_TRACE(absl::StrCat("rank ", rank));
    const std::span<const float> model = run.node(rank).model();
    ASSERT_EQ(std::vector<float>(model.begin(), model.end()), expected[rank]);
  }
}

void ExpectAHealthyRun(const RunPlan& plan, SimulatedRun& run) {
  ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
  ExpectTheBitsOfTheCluster(plan, run, ModelsOfACluster(plan, LastRound(plan)));
  ExpectAllMeasurements(plan, run);
}

// Without rounds, hence on a graph that stays, and longer; with no more evaluations where each is
// long. By seed nodes send nothing, offer their replicas, average in pairs, or serve others.
RunPlan Sharing(RunPlan plan) {
  plan.algorithm = std::array{"solo", "eager-gossip", "adpsgd", "downpour:window=3",
                              "ps:async:staleness=1"}[plan.seed % 5];
  if ((*MakeTopology(plan.topology, plan.nodes, plan.seed))->period() != 1) plan.topology = "ring";
  plan.rounds *= 5;
  if (plan.evaluation > std::chrono::milliseconds(20)) plan.evaluate_every *= 5;
  return plan;
}

void ExpectASharedBudget(const RunPlan& plan, SimulatedRun& run) {
  ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
  const Rank workers = *WorkerCount(plan.algorithm, plan.nodes);
  int64_t gradients = 0;
  for (Rank rank = 0; rank < workers; ++rank) {
    ASSERT_EQ(run.node(rank).round(), run.node(rank).gradients()) << "rank " << rank;
    gradients += run.node(rank).gradients();
  }
  ASSERT_EQ(gradients, LastRound(plan) * workers);
  ExpectAllMeasurements(plan, run);
}

TEST(WholeNode, NodesWithoutRoundsUseUpTheirBudgetExactly) {
  ForEverySeed([](uint64_t seed) { return Sharing(HealthyPlan(seed)); }, ExpectASharedBudget);
}

TEST(WholeNode, ASharedBudgetGetsOverWhatIsShorterThanItsTimeouts) {
  ForEverySeed([](uint64_t seed) { return Sharing(BumpyPlan(seed)); }, ExpectASharedBudget);
}

TEST(WholeNode, AHealthyRunEndsWithTheBitsOfTheCluster) {
  ForEverySeed(HealthyPlan, ExpectAHealthyRun);
}

TEST(WholeNode, ARunGetsOverWhatIsShorterThanItsTimeouts) {
  ForEverySeed(BumpyPlan, ExpectAHealthyRun);
}

// Longer, so that the batch can grow twice; of evaluations that take as long as they do, so that
// nodes outrun some.
RunPlan Growing(RunPlan plan) {
  plan.rounds = 10 + 3 * plan.rounds;
  plan.evaluate_every = std::max<Round>(plan.evaluate_every, 1);
  if (plan.target_met_in) *plan.target_met_in *= 4;
  plan.batch_schedule = "plateau:factor=2:patience=1:threshold=0.2:most=2";
  return plan;
}

// What the evaluations of a run without faults come to.
struct GrownRun {
  Round rounds = 0;
  std::vector<Round> evaluated;
  std::vector<int64_t> batches;  // by round
};

GrownRun Grown(const RunPlan& plan) {
  RunCourse course(Beforehand(plan), [](int64_t) { return 0.0; });
  RunHorizon horizon(plan.target_met_in ? std::optional(1.0) : std::nullopt, &course);
  GrownRun run;
  for (Round completed = 1; completed <= horizon.limit(); ++completed) {
    run.batches.push_back(course.PassesIn(completed - 1).count);
    if (!course.Evaluated(completed)) continue;
    run.evaluated.push_back(completed);
    horizon.OnEvaluation(EvaluationOf(plan, completed));
  }
  run.rounds = horizon.limit();
  return run;
}

// However long evaluations take: all nodes have the batches that the evaluations say.
void ExpectAGrowingRun(const RunPlan& plan, SimulatedRun& run) {
  ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
  const GrownRun grown = Grown(plan);
  const std::vector<std::vector<float>> expected = ModelsOfACluster(plan, grown.rounds);
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    SCOPED_TRACE(absl::StrCat("rank ", rank));
    ASSERT_EQ(*run.node(rank).ending(), absl::OkStatus());
    const std::span<const float> model = run.node(rank).model();
    ASSERT_EQ(std::vector<float>(model.begin(), model.end()), expected[rank]);
    if (rank >= *WorkerCount(plan.algorithm, plan.nodes)) continue;
    ASSERT_EQ(run.node(rank).batches(), grown.batches);
  }
  std::vector<Round> evaluated;
  for (const AveragedModel& average : run.node(0).averages()) evaluated.push_back(average.round);
  ASSERT_EQ(evaluated, grown.evaluated);
}

TEST(WholeNode, BatchesGrowAlikeAtAllNodesHoweverLongEvaluationsTake) {
  ForEverySeed([](uint64_t seed) { return Growing(BumpyPlan(seed)); },
               [](const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
                 ExpectAGrowingRun(plan, run);
                 seen.Count("batches that have grown twice", run.node(0).batches().back() == 4);
               });
}

// Who cannot hear rank 0's verdict, or need not: it was itself stopped, refused, told to
// end, or cut off from rank 0.
bool JudgesForItself(const RunPlan& plan, Rank rank) {
  const Fault& fault = plan.faults[0];
  switch (fault.kind) {
    case Fault::Kind::kMisfit:
      return rank == fault.a && !plan.token;
    case Fault::Kind::kPause:
    case Fault::Kind::kOtherToken:
    case Fault::Kind::kInterrupt:
    case Fault::Kind::kCutControl:
      return rank == fault.a;
    case Fault::Kind::kPartition:
      return (rank == fault.a && fault.b == 0) || (rank == fault.b && fault.a == 0);
    default:
      return false;
  }
}

// Where the verdict is nobody's to give: nodes tell each other nothing.
bool RankZeroIsGone(const Fault& fault) {
  return fault.a == 0 &&
         (fault.kind == Fault::Kind::kKill || fault.kind == Fault::Kind::kLostHost ||
          fault.kind == Fault::Kind::kPause || fault.kind == Fault::Kind::kNeverComes);
}

// What the verdict on a fault says, where it is one, and the exit code. While nodes
// gather, all that can be said is who is missing, and what it has said itself.
void ExpectTheCulprit(const RunPlan& plan, const absl::Status& ending) {
  const Fault& fault = plan.faults[0];
  const std::string text(ending.message());
  const std::string culprit = absl::StrCat("rank ", fault.a);
  const Failure failure = FailureOf(ending);
  switch (fault.kind) {
    case Fault::Kind::kDiverges:
      ASSERT_EQ(failure, Failure::kDiverged);
      ASSERT_THAT(text,
                  HasSubstr(absl::StrCat(culprit, ": the loss became nan in round ", fault.round)));
      return;
    case Fault::Kind::kMisfit:
      ASSERT_EQ(failure, Failure::kRendezvous);
      ASSERT_THAT(text, HasSubstr(plan.token ? "refuses " + culprit + " at"
                                             : culprit + " was refused: lr is \"0.2\""));
      return;
    case Fault::Kind::kOtherToken:
    case Fault::Kind::kNeverComes:
      ASSERT_EQ(failure, Failure::kRendezvous);
      ASSERT_THAT(text, HasSubstr(fault.a == 0 ? "rank 0" : culprit + " is missing"));
      return;
    case Fault::Kind::kInterrupt:
      ASSERT_THAT(failure, AnyOf(Failure::kTerminated, Failure::kRendezvous));
      // Or the signal came before it could say anything.
      ASSERT_THAT(text, AnyOf(HasSubstr("terminated"), HasSubstr(culprit + " is missing"),
                              HasSubstr("rank 0: ")));
      return;
    case Fault::Kind::kCut:
    case Fault::Kind::kPartition:
      ASSERT_THAT(failure, AnyOf(Failure::kPeerLost, Failure::kRendezvous));
      ASSERT_THAT(text, AnyOf(HasSubstr(culprit), HasSubstr(absl::StrCat("rank ", fault.b))));
      ASSERT_THAT(text, Not(HasSubstr("stuck")));
      return;
    default:
      ASSERT_THAT(failure, AnyOf(Failure::kPeerLost, Failure::kRendezvous));
      ASSERT_THAT(text, HasSubstr(culprit));
  }
}

// When all must have ended that are not stopped themselves. A node has --rendezvous-timeout to come
// and --peer-timeout to be heard, rank 0 some seconds to listen to the accused and to see all
// leave; an evaluation that is under way is finished first.
std::chrono::nanoseconds Latest(const RunPlan& plan) {
  const Fault& fault = plan.faults[0];
  // What cannot begin ends at once.
  if (fault.kind == Fault::Kind::kMisfit && plan.token) return plan.rendezvous_timeout / 2;
  return fault.at + plan.rendezvous_timeout + 2 * (plan.peer_timeout + plan.evaluation) +
         std::chrono::seconds(8);
}

// Whether the fault cannot have come too late to matter. A server has no loss.
bool Certain(const RunPlan& plan, const Fault& fault) {
  return fault.kind == Fault::Kind::kMisfit || fault.kind == Fault::Kind::kOtherToken ||
         fault.kind == Fault::Kind::kNeverComes ||
         (fault.kind == Fault::Kind::kDiverges && fault.round < LastRound(plan) &&
          fault.a < *WorkerCount(plan.algorithm, plan.nodes));
}

void ExpectOneVerdict(const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
  ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
  const Fault& fault = plan.faults[0];
  std::optional<absl::Status> verdict;
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    if (!run.survives(rank) || JudgesForItself(plan, rank)) continue;
    SCOPED_TRACE(absl::StrCat("rank ", rank));
    ASSERT_LE(run.EndedAfter(rank), Latest(plan));
    const absl::Status& ending = *run.node(rank).ending();
    if (RankZeroIsGone(fault) && ending.ok()) continue;  // it has heard the end just before
    if (!verdict) verdict = ending;
    if (RankZeroIsGone(fault)) {
      ExpectTheCulprit(plan, ending);  // which depends on whether the roster has come
      continue;
    }
    ASSERT_EQ(ending, *verdict);
  }
  const bool lost = verdict && !verdict->ok();
  seen.Count("verdicts", lost);
  if (lost) return ExpectTheCulprit(plan, *verdict);
  ASSERT_FALSE(Certain(plan, fault)) << "nobody noticed";
}

// Rounds are long, and nodes have leave for one: what is asked holds some of them up.
RunPlan Saving(RunPlan plan) {
  plan.gradient = std::chrono::milliseconds(400);
  plan.rounds *= 3;
  if (plan.target_met_in) *plan.target_met_in *= 3;
  plan.checkpoint_every = std::chrono::milliseconds(1 + 300 * (plan.seed % 8));
  return plan;
}

// All nodes have saved the same rounds.
void ExpectWholeCheckpoints(const RunPlan& plan, const SimulatedRun& run) {
  for (Rank rank = 1; rank < plan.nodes; ++rank) {
    ASSERT_EQ(run.node(rank).saved(), run.node(0).saved()) << "rank " << rank;
  }
}

TEST(WholeNode, CheckpointsAreOfOneRoundAndChangeNoBit) {
  ForEverySeed([](uint64_t seed) { return Saving(BumpyPlan(seed)); },
               [](const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
                 ExpectAHealthyRun(plan, run);
                 ExpectWholeCheckpoints(plan, run);
                 seen.Count("checkpoints", run.node(0).saved().size());
               });
}

// Runs until all nodes have found each other.
bool AllBegin(const RunPlan& plan, SimulatedRun& run) {
  return run.RunUntil([&] {
    for (Rank rank = 0; rank < plan.nodes; ++rank) {
      if (run.node(rank).State().starts_with("joining")) return false;
    }
    return true;
  });
}

// Every node once, at any time once all have begun.
void LetAllStandStill(const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
  ASSERT_TRUE(AllBegin(plan, run));
  const std::chrono::nanoseconds begun = run.elapsed();
  for (const Fault& fault : Standstill(plan)) {
    run.RunUntil(begun + fault.at);
    seen.Count("nodes that stand still before they have ended", !run.node(fault.a).ending());
    run.Happen(fault);
  }
}

TEST(WholeNode, ARunThatStandsStillAsAWholeGoesOn) {
  ForEverySeed(HealthyPlan, [](const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
    LetAllStandStill(plan, run, seen);
    ExpectAHealthyRun(plan, run);
  });
}

// At any time once all have begun, and without any other checkpoint.
void ExpectAnEndWithACheckpoint(const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
  ASSERT_TRUE(AllBegin(plan, run));
  run.RunUntil(run.elapsed() + std::chrono::milliseconds(plan.seed * 37 % 4000));
  const auto told = static_cast<Rank>(plan.seed % static_cast<uint64_t>(plan.nodes));
  run.Happen({.kind = Fault::Kind::kTerminate, .a = told});
  ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
  ExpectWholeCheckpoints(plan, run);
  const absl::Status& ending = *run.node(0).ending();
  for (Rank rank = 0; rank < plan.nodes; ++rank) ASSERT_EQ(*run.node(rank).ending(), ending);
  seen.Count("runs that end early", !ending.ok());
  if (ending.ok()) return;  // its last rounds were under way
  ASSERT_EQ(FailureOf(ending), Failure::kTerminated);
  ASSERT_EQ(run.node(0).saved().size(), 1u);
  ASSERT_THAT(std::string(ending.message()),
              HasSubstr(absl::StrCat("the checkpoint of round ", run.node(0).saved()[0],
                                     " is complete; rank ", told, " at ")));
}

TEST(WholeNode, ARunThatIsToldToEndEndsWithACheckpoint) {
  ForEverySeed(
      [](uint64_t seed) {
        RunPlan plan = Saving(HealthyPlan(seed));
        plan.checkpoint_every = std::chrono::hours(1);
        return plan;
      },
      ExpectAnEndWithACheckpoint);
}

RunPlan CutOffPlan(uint64_t seed) {
  RunPlan plan = HealthyPlan(seed);
  plan.peer_timeout = std::chrono::seconds(30);
  plan.min_peer_timeout.reset();
  plan.step_timeout = std::chrono::seconds(60);
  // Two nodes that have had nothing to tell each other yet make their edge after the cut.
  plan.rendezvous_timeout = std::chrono::seconds(60);
  return plan;
}

// The last node is cut off from rank 0 once it is done, or once rank 0 has announced the
// end: for long, but less than --peer-timeout.
void ExpectThatItEndsWell(const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
  const Rank last = plan.nodes - 1;
  const auto is = [&run](Rank rank, const char* state) {
    return run.node(rank).State().starts_with(state);
  };
  const bool announced = plan.seed % 2 == 0;
  ASSERT_TRUE(run.RunUntil([&] { return announced ? is(0, "leaving") : is(last, "done"); }));
  const bool unheard = is(last, "done");
  const std::chrono::seconds lasts(8 + plan.seed % 18);
  const std::chrono::nanoseconds heals = run.elapsed() + lasts;
  run.Happen({.kind = Fault::Kind::kPartition, .a = 0, .b = last, .lasts = lasts});
  ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    ASSERT_EQ(*run.node(rank).ending(), absl::OkStatus()) << "rank " << rank;
  }
  // Rank 0 waits until all have heard the end.
  seen.Count("ends that one has not heard", unheard);
  if (!unheard) return;
  ASSERT_GT(run.EndedAfter(0), heals);
}

TEST(WholeNode, ANodeThatIsCutOffOnceItIsDoneEndsWell) {
  ForEverySeed(CutOffPlan, ExpectThatItEndsWell);
}

// The mean of the models with which these have ended.
std::vector<double> MeanModel(const SimulatedRun& run, const std::vector<Rank>& ranks) {
  std::vector<double> mean(SimulatedNode::kParameters + SimulatedNode::kBuffers);
  for (const Rank rank : ranks) {
    const std::span<const float> model = run.node(rank).model();
    for (size_t i = 0; i < mean.size(); ++i)
      mean[i] += model[i] / static_cast<double>(ranks.size());
  }
  return mean;
}

bool IsMended(const RunPlan& plan, const Fault& fault) {
  return fault.kind == Fault::Kind::kStoreAway || fault.kind == Fault::Kind::kStoreDown ||
         (fault.kind == Fault::Kind::kCutControl && fault.lasts < plan.peer_timeout);
}

std::vector<Fault> InOrder(std::vector<Fault> faults, const std::vector<Fault>& others) {
  faults.insert(faults.end(), others.begin(), others.end());
  std::ranges::sort(faults, {}, &Fault::at);
  return faults;
}

// Servers are spared: the run would end with one.
std::vector<Fault> Befalls(const RunPlan& plan) {
  std::vector<Fault> faults = Deaths(plan);
  const Rank workers = *WorkerCount(plan.algorithm, plan.nodes);
  std::erase_if(faults, [workers](const Fault& death) { return death.a >= workers; });
  const std::vector<Fault> mended = BrokenControl(plan, faults);
  return InOrder(std::move(faults), mended);
}

Round LeastRounds(const RunPlan& plan) {
  if (plan.open_ended()) return 1;  // in which nobody has a gradient
  return std::min(plan.target_met_in.value_or(plan.rounds), plan.rounds);
}

// Whatever befalls the others at any time, once all have begun: those who are spared come to the
// end, of one mind about who they are, and with an evaluation of the mean of their models.
void ExpectThatTheLivingGoOn(const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
  ASSERT_TRUE(AllBegin(plan, run));
  const std::chrono::nanoseconds begun = run.elapsed();
  std::vector<bool> spared(plan.nodes, true);
  std::vector<bool> apart(plan.nodes, false);  // from rank 0, if they have to do with each other
  Round furthest = 0;                          // of those who die
  for (const Fault& death : Befalls(plan)) {
    run.RunUntil(begun + death.at);
    if (IsMended(plan, death)) {
      run.Happen(death);
      continue;
    }
    furthest = std::max(furthest, run.node(death.a).round());
    run.Happen(death);
    spared[death.a] = false;
    apart[death.a] = death.kind == Fault::Kind::kCut || death.kind == Fault::Kind::kCutControl;
  }
  ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    if (!apart[rank]) continue;
    spared[rank] = run.node(rank).ending()->ok();
    if (!spared[rank]) {
      ASSERT_EQ(FailureOf(*run.node(rank).ending()), Failure::kPeerLost) << "rank " << rank;
    }
    if (!spared[rank]) furthest = std::max(furthest, run.node(rank).round());
  }
  // Where an evaluation is missed, the run does not go beyond the next one before that is known.
  std::vector<Rank> living;
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    if (!spared[rank]) continue;
    living.push_back(rank);
    ASSERT_EQ(*run.node(rank).ending(), absl::OkStatus()) << "rank " << rank;
    ASSERT_GE(run.node(rank).round(), LeastRounds(plan));
    ASSERT_EQ(run.node(rank).round(), run.node(0).round());
    const bool server = rank >= *WorkerCount(plan.algorithm, plan.nodes);
    if (server) living.pop_back();  // it has no model
    if (server || !plan.algorithm.starts_with("allreduce")) continue;
    ASSERT_TRUE(std::ranges::equal(run.node(rank).model(), run.node(0).model())) << "rank " << rank;
  }
  ASSERT_FALSE(run.node(0).averages().empty());
  const AveragedModel& last = run.node(0).averages().back();
  // A target that is met ends the run, whatever becomes of the evaluation after it.
  const bool met = plan.target_met_in && last.round >= *plan.target_met_in;
  ASSERT_TRUE(met || last.round == run.node(0).round()) << last.round;
  const bool of_the_living = furthest < last.round && last.round == run.node(0).round();
  seen.Count("averages of those who go on without others",
             of_the_living && std::ranges::count(spared, false) > 0);
  if (!of_the_living) return;
  const std::vector<double> mean = MeanModel(run, living);
  for (size_t i = 0; i < mean.size(); ++i) ASSERT_NEAR(last.model.span()[i], mean[i], 1e-4);
}

// Half of the runs are so long that the role moves, and more befalls them, while they train.
RunPlan WithStore(RunPlan plan) {
  plan.role_moves = true;
  if (plan.seed % 2 == 0) return plan;
  plan.rounds *= 3;
  if (plan.target_met_in) *plan.target_met_in *= 3;
  plan.gradient = std::chrono::milliseconds(100 + plan.seed % 400);
  return plan;
}

// The same where rank 0 dies as well: the role goes to somebody who is left, as often as it takes.
void ExpectThatAnotherTakesOver(const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
  ASSERT_TRUE(AllBegin(plan, run));
  const std::chrono::nanoseconds begun = run.elapsed();
  std::vector<bool> spared(plan.nodes, true);
  std::vector<bool> apart(plan.nodes, false);
  Round furthest = 0;  // of those who die
  const std::vector<Fault> deaths = DeathsOfAny(plan);
  std::vector<Fault> faults = InOrder(BrokenControl(plan, deaths), deaths);
  if (plan.seed % 3 == 0)
    faults = InOrder(faults, StoreTroubles(plan, plan.peer_timeout / 8, deaths));
  for (const Fault& fault : faults) {
    run.RunUntil(begun + fault.at);
    if (!IsMended(plan, fault)) {
      furthest = std::max(furthest, run.node(fault.a).round());
      spared[fault.a] = false;
      apart[fault.a] = fault.kind == Fault::Kind::kCut || fault.kind == Fault::Kind::kCutControl;
    }
    run.Happen(fault);
  }
  ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
  std::vector<Rank> living;
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    SCOPED_TRACE(absl::StrCat("rank ", rank));
    const std::optional<absl::Status>& ending = run.node(rank).ending();
    if (spared[rank]) {
      ASSERT_EQ(*ending, absl::OkStatus());
    } else if (apart[rank] && !ending->ok()) {
      ASSERT_EQ(FailureOf(*ending), Failure::kPeerLost);
    }
    if (!spared[rank] && !(apart[rank] && ending->ok())) {
      furthest = std::max(furthest, run.node(rank).round());
      continue;
    }
    living.push_back(rank);
    ASSERT_EQ(run.node(rank).round(), run.node(living[0]).round());
    seen.Count("others with rank 0's role", rank > 0 && run.node(rank).coordinates());
  }
  const Round end = run.node(living[0]).round();
  ASSERT_GE(end, LeastRounds(plan));
  // The last round has been evaluated, at whoever had the role then, unless the target was met.
  const AveragedModel* last = nullptr;
  bool met = false;
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    for (const AveragedModel& average : run.node(rank).averages()) {
      if (average.round == end) last = &average;
      met = met || (plan.target_met_in && average.round >= *plan.target_met_in);
    }
  }
  ASSERT_TRUE(met || end == plan.rounds || plan.open_ended()) << end;
  ASSERT_TRUE(met || last != nullptr);
  const bool of_the_living = furthest < end && last != nullptr;
  seen.Count("averages of those who go on without others",
             of_the_living && std::ssize(living) < plan.nodes);
  if (!of_the_living) return;
  const std::vector<double> mean = MeanModel(run, living);
  for (size_t i = 0; i < mean.size(); ++i) ASSERT_NEAR(last->model.span()[i], mean[i], 1e-4);
}

// Programs compute the gradients, as many each or not, and say when they have given the last one.
RunPlan OpenEnded(RunPlan plan) {
  if (*WorkerCount(plan.algorithm, plan.nodes) < plan.nodes) plan.algorithm = "dpsgd";
  KeyedRandom random(plan.seed, Purpose::kShuffle);
  const uint64_t most = random.Below(8) == 0 ? 60 : 12;
  const bool alike = random.Below(2) == 0;
  plan.programs.assign(plan.nodes, static_cast<Round>(random.Below(most)));
  for (Round& gradients : plan.programs) {
    if (!alike) gradients = static_cast<Round>(random.Below(most));
  }
  plan.ends_all = random.Below(5) == 0;
  plan.rounds = std::ranges::max(plan.programs) + 2;
  plan.target_met_in.reset();
  // Nobody says otherwise: at the end.
  if (plan.evaluate_every == 0 || random.Below(2) == 0) plan.evaluate_every = plan.most_rounds();
  return plan;
}

// All gradients of those who come to the end are in the run, whose last round has none.
void ExpectThatProgramsAreDone(const RunPlan& plan, const SimulatedRun& run) {
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    const SimulatedNode& node = run.node(rank);
    if (!node.ending() || !node.ending()->ok()) continue;
    SCOPED_TRACE(absl::StrCat("rank ", rank));
    ASSERT_LE(node.gradients(), plan.programs[rank]);
    if (!plan.ends_all) {
      ASSERT_EQ(node.gradients(), plan.programs[rank]);
    }
    // A round that is done again has two of a node.
    ASSERT_TRUE(node.spent().has_value());
    ASSERT_LE(*node.spent(), node.gradients());
    ASSERT_GT(node.round(), *node.spent());
  }
}

// As the programs have it, and then those that stand still.
std::vector<std::vector<float>> ModelsOfPrograms(const RunPlan& plan, const SimulatedRun& run,
                                                 Round rounds) {
  return ModelsOfACluster(
      plan, rounds,
      [&run, computed = Quadratic(1, 1, 11)](Rank rank, Round round, std::span<const float> x,
                                             std::span<float> gradient) {
        if (round < run.node(rank).gradients()) return computed(rank, round, x, gradient);
        constexpr auto kBuffers = static_cast<size_t>(SimulatedNode::kParameters);
        std::ranges::fill(gradient, 0.0f);
        std::ranges::copy(x.subspan(kBuffers), gradient.subspan(kBuffers).begin());
      });
}

void ExpectAnOpenEnd(const RunPlan& plan, SimulatedRun& run) {
  ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    ASSERT_EQ(*run.node(rank).ending(), absl::OkStatus()) << "rank " << rank;
  }
  ExpectThatProgramsAreDone(plan, run);
  const Round end = run.node(0).round();
  const auto& [least, most] = std::ranges::minmax(plan.programs);
  // Machines' pace decides only where some have more to give, or wait for averaged models.
  if (least == most && !plan.ends_all) {
    ASSERT_LE(end, most + (plan.evaluate_every > most ? 1 : 2));
  }
  ExpectTheBitsOfTheCluster(plan, run, ModelsOfPrograms(plan, run, end));
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    const auto& averages = rank == 0 ? run.node(0).averages() : run.node(rank).told();
    if (rank > 0 && !plan.tells()) continue;
    ASSERT_FALSE(averages.empty()) << "rank " << rank;
    ASSERT_EQ(averages.back().round, end) << "rank " << rank;
  }
}

TEST(WholeNode, AnOpenEndedRunEndsWithItsPrograms) {
  ForEverySeed([](uint64_t seed) { return OpenEnded(BumpyPlan(seed)); }, ExpectAnOpenEnd);
}

TEST(WholeNode, AnOpenEndedRunEndsWithTheProgramsOfTheLiving) {
  ForEverySeed([](uint64_t seed) { return OpenEnded(MortalPlan(seed)); },
               [](const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
                 ExpectThatTheLivingGoOn(plan, run, seen);
                 ExpectThatProgramsAreDone(plan, run);
               });
}

TEST(WholeNode, AnOpenEndedRunEndsWithItsProgramsWhoeverHasTheRole) {
  ForEverySeed([](uint64_t seed) { return WithStore(OpenEnded(MortalPlan(seed))); },
               [](const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
                 ExpectThatAnotherTakesOver(plan, run, seen);
                 ExpectThatProgramsAreDone(plan, run);
               });
}

TEST(WholeNode, AnotherTakesTheRoleOverWhoeverDiesWhen) {
  ForEverySeed([](uint64_t seed) { return WithStore(MortalPlan(seed)); },
               ExpectThatAnotherTakesOver);
}

// Lets all begin, and then happen what is planned for times since then.
void LetHappen(const RunPlan& plan, SimulatedRun& run, const std::vector<Fault>& faults) {
  ASSERT_TRUE(AllBegin(plan, run));
  const std::chrono::nanoseconds begun = run.elapsed();
  for (const Fault& fault : faults) {
    run.RunUntil(begun + fault.at);
    run.Happen(fault);
  }
}

// All end well, with the role where it was.
void ExpectThatNobodyMinds(const RunPlan& plan, SimulatedRun& run) {
  ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    SCOPED_TRACE(absl::StrCat("rank ", rank));
    ASSERT_EQ(*run.node(rank).ending(), absl::OkStatus());
    ASSERT_EQ(run.node(rank).round(), run.node(0).round());
    ASSERT_EQ(run.node(rank).coordinates(), rank == 0);
  }
  ASSERT_GE(run.node(0).round(), LeastRounds(plan));
}

// Its lease lapses, or is lost, and nobody takes the role.
TEST(WholeNode, AStoreThatFailsWhileAllAreThereChangesNothing) {
  ForEverySeed([](uint64_t seed) { return WithStore(MortalPlan(seed)); },
               [](const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
                 // All together, below --rendezvous-timeout less what the lease takes to come back.
                 std::vector<Fault> faults =
                     StoreTroubles(plan, (plan.rendezvous_timeout - plan.peer_timeout / 2) / 3);
                 if (plan.seed % 2 == 0) {
                   faults.push_back({.kind = Fault::Kind::kLeasesLost, .at = faults.back().at});
                 }
                 LetHappen(plan, run, faults);
                 ExpectThatNobodyMinds(plan, run);
                 seen.Count("roles that lapse", run.node(0).role().lapses());
               });
}

// Whatever is cut off from whatever: at most one ends the run well, and all who end well are of it.
void ExpectOneWinnerAtMost(const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
  const bool die = plan.seed % 3 == 0;
  LetHappen(plan, run, InOrder(SplitNetwork(plan), die ? DeathsOfAny(plan) : std::vector<Fault>()));
  ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
  int winners = 0;
  std::set<Round> ends;
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    const SimulatedNode& node = run.node(rank);
    winners += node.has_concluded();
    if (node.ending() && node.ending()->ok()) ends.insert(node.round());
    seen.Count("others with rank 0's role", rank > 0 && node.coordinates());
    seen.Count("roles that lapse", node.role().lapses());
    seen.Count("roles that another has had meanwhile", node.role().superseded());
  }
  ASSERT_LE(winners, 1);
  // Whoever has told the store may die before it tells the nodes.
  const bool ends_well = winners == 1 || run.store().EndedWell();
  ASSERT_LE(ends.size(), ends_well ? 1u : 0u);
  seen.Count("runs that end well", ends_well);
  seen.Count("runs that nobody ends well", !ends_well);
}

TEST(WholeNode, ARunThatIsSplitHasOneWinnerAtMost) {
  ForEverySeed(
      [](uint64_t seed) {
        RunPlan plan = WithStore(MortalPlan(seed));
        if (seed % 5 < 2) plan.least.reset();
        // A node may be left out while it still searches for the coordinator.
        if (seed % 7 == 0) plan.rendezvous_timeout = std::chrono::milliseconds(1000);
        return plan;
      },
      ExpectOneWinnerAtMost);
}

// Nobody has said how few may go on. Those who are spared all come to the end, or all end together
// and say what would have let them go on; that, only where more than half may be lost.
void ExpectThatFewDoNotGoOnByThemselves(const RunPlan& plan, SimulatedRun& run,
                                        const std::vector<Fault>& faults, Sightings& seen) {
  ASSERT_TRUE(AllBegin(plan, run));
  const std::chrono::nanoseconds begun = run.elapsed();
  std::set<Rank> lost;
  for (const Fault& fault : faults) {
    run.RunUntil(begun + fault.at);
    run.Happen(fault);
    if (!IsMended(plan, fault)) lost.insert(fault.a);
  }
  ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
  std::set<std::string> endings;
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    if (!lost.contains(rank)) endings.insert(std::string(run.node(rank).ending()->message()));
  }
  const bool end_well = endings.contains("");
  seen.Count("runs that come to the end without some", end_well && !lost.empty());
  seen.Count("runs of too few", !end_well);
  if (end_well) {
    ASSERT_EQ(endings.size(), 1u) << absl::StrJoin(endings, "; ");
    return;
  }
  ASSERT_GT(2 * static_cast<Rank>(lost.size()), plan.nodes) << absl::StrJoin(endings, "; ");
  for (const std::string& ending : endings) {
    ASSERT_THAT(ending, HasSubstr("left, fewer than half of the "));
    ASSERT_THAT(ending, HasSubstr("with --min-nodes="));
  }
}

// Larger, so that more than half can be lost.
RunPlan UnsaidPlan(uint64_t seed) {
  RunPlan plan = MortalPlan(seed);
  plan.nodes = std::max<Rank>(plan.nodes, 3);
  plan.least.reset();
  return plan;
}

TEST(WholeNode, FewDoNotGoOnByThemselves) {
  ForEverySeed(UnsaidPlan, [](const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
    ExpectThatFewDoNotGoOnByThemselves(plan, run, Befalls(plan), seen);
  });
}

TEST(WholeNode, FewDoNotGoOnByThemselvesWithoutRankZero) {
  ForEverySeed([](uint64_t seed) { return WithStore(UnsaidPlan(seed)); },
               [](const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
                 const std::vector<Fault> deaths = DeathsOfAny(plan);
                 ExpectThatFewDoNotGoOnByThemselves(
                     plan, run, InOrder(BrokenControl(plan, deaths), deaths), seen);
               });
}

// Its lease has lapsed meanwhile, and nobody takes the role.
TEST(WholeNode, ARunThatStandsStillAsAWholeKeepsItsNodesAndTheRoleItsHolder) {
  ForEverySeed([](uint64_t seed) { return WithStore(MortalPlan(seed)); },
               [](const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
                 LetAllStandStill(plan, run, seen);
                 ExpectThatNobodyMinds(plan, run);
               });
}

// Processes are killed, and others come in their places, again and again. Returns whose.
std::set<Rank> KillAndReturn(const RunPlan& plan, SimulatedRun& run) {
  const std::chrono::nanoseconds begun = run.elapsed();
  struct Event {
    std::chrono::nanoseconds at;
    Rank rank;
    bool comes;
  };
  std::vector<Event> events;
  std::set<Rank> killed;
  for (const Fault& fault : Returns(plan)) {
    if (fault.a == 0 && !plan.role_moves) continue;
    killed.insert(fault.a);
    events.push_back({fault.at, fault.a, false});
    events.push_back({fault.at + fault.lasts, fault.a, true});
  }
  std::ranges::stable_sort(events, {}, &Event::at);
  for (const Event& event : events) {
    run.RunUntil(begun + event.at);
    const bool alive = !run.node(event.rank).ending() && run.survives(event.rank);
    if (event.comes && !alive) run.Return(event.rank);
    if (!event.comes && alive) run.Happen({.kind = Fault::Kind::kKill, .a = event.rank});
  }
  return killed;
}

// Who is spared comes to the end, and so does whoever comes back early enough.
void ExpectThatTheReturnedGoOn(const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
  ASSERT_TRUE(AllBegin(plan, run));
  const std::set<Rank> killed = KillAndReturn(plan, run);
  ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    SCOPED_TRACE(absl::StrCat("rank ", rank));
    const std::optional<absl::Status>& ending = run.node(rank).ending();
    if (!killed.contains(rank)) {
      ASSERT_EQ(*ending, absl::OkStatus());
    }
    if (!ending || !ending->ok()) continue;
    ASSERT_EQ(run.node(rank).round(), plan.rounds);
    seen.Count("those who have come back", killed.contains(rank));
  }
  // At whoever had the role then, who may have been killed since.
  ASSERT_TRUE(std::ranges::any_of(
      run.Averages(), [&](const AveragedModel* average) { return average->round == plan.rounds; }));
}

// Of gossip, which takes others in.
RunPlan ReturningPlan(uint64_t seed) {
  RunPlan plan = WithStore(MortalPlan(seed));
  plan.target_met_in.reset();
  if (!TakesNewcomers(plan.algorithm)) plan.algorithm = "dpsgd";
  return plan;
}

TEST(WholeNode, WhoComesBackGoesOn) {
  ForEverySeed(ReturningPlan, ExpectThatTheReturnedGoOn, /*least=*/kSeeds / 10);
}

// Of whom some are not there: all but rank 0 and another, or fewer.
RunPlan BegunWithoutSome(uint64_t seed) {
  RunPlan plan = MortalPlan(seed);
  plan.begin_nodes = 2;
  KeyedRandom random(seed, Purpose::kPlacement);
  const auto there = 1 + static_cast<Rank>(random.Below(static_cast<uint64_t>(plan.nodes) - 1));
  for (Rank rank = 1; rank < plan.nodes; ++rank) {
    if (rank == there || random.Below(3) == 0) continue;
    plan.faults.push_back({.kind = Fault::Kind::kNeverComes, .a = rank});
  }
  return plan;
}

// They begin when the others have been waited for, and average the models of those who are there.
void ExpectThatThoseWhoAreThereBegin(const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
  ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
  std::set<Rank> missing;
  for (const Fault& fault : plan.faults) missing.insert(fault.a);
  if (!missing.empty()) {
    ASSERT_GE(run.elapsed(), plan.rendezvous_timeout);
  }
  std::vector<Rank> there;
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    if (missing.contains(rank)) continue;
    there.push_back(rank);
    ASSERT_EQ(*run.node(rank).ending(), absl::OkStatus()) << "rank " << rank;
    ASSERT_EQ(run.node(rank).round(), run.node(0).round());
  }
  ASSERT_GE(run.node(0).round(), std::min(plan.target_met_in.value_or(plan.rounds), plan.rounds));
  ASSERT_FALSE(run.node(0).averages().empty());
  const AveragedModel& last = run.node(0).averages().back();
  const bool of_the_end = last.round == run.node(0).round();
  seen.Count("averages of those who are there", of_the_end && !missing.empty());
  if (!of_the_end) return;
  const std::vector<double> mean = MeanModel(run, there);
  for (size_t i = 0; i < mean.size(); ++i) ASSERT_NEAR(last.model.span()[i], mean[i], 1e-4);
}

TEST(WholeNode, ThoseWhoAreThereBeginWithoutTheOthers) {
  ForEverySeed(BegunWithoutSome, ExpectThatThoseWhoAreThereBegin);
}

// The same where the others wait for whoever is to come: all come to the end, or end together when
// one that has come back in vain has been waited for.
void ExpectThatAllAreWaitedFor(const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
  ASSERT_TRUE(AllBegin(plan, run));
  const std::set<Rank> killed = KillAndReturn(plan, run);
  ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
  std::set<std::string> endings;
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    const std::optional<absl::Status>& ending = run.node(rank).ending();
    if (!killed.contains(rank)) endings.insert(std::string(ending->message()));
    if (!ending || !ending->ok()) continue;
    ASSERT_EQ(run.node(rank).round(), plan.rounds);
  }
  ASSERT_EQ(endings.size(), 1u) << absl::StrJoin(endings, "; ");
  seen.Count("runs that all come to the end of", endings.begin()->empty());
  if (endings.begin()->empty()) return;
  ASSERT_THAT(*endings.begin(), HasSubstr("not enough others have come in"));
}

TEST(WholeNode, WhoIsToComeIsWaitedFor) {
  ForEverySeed(
      [](uint64_t seed) {
        RunPlan plan = ReturningPlan(seed);
        plan.least = seed % 3 == 0 ? std::max<Rank>(2, plan.nodes - 1) : plan.nodes;
        plan.waits = true;
        return plan;
      },
      ExpectThatAllAreWaitedFor, /*least=*/kSeeds / 3);
}

TEST(WholeNode, TheLivingGoOnWhoeverDiesWhen) { ForEverySeed(MortalPlan, ExpectThatTheLivingGoOn); }

// Where all have to do with each other, and train for so long that they notice.
RunPlan CompletelyConnected(uint64_t seed) {
  RunPlan plan = MortalPlan(seed);
  plan.nodes = 4 + static_cast<Rank>(seed % 5);
  plan.topology = "complete";
  plan.algorithm = std::array{"dpsgd", "dpsgd:order=atc", "sgp", "dpsgd:local=2"}[seed % 4];
  plan.gradient = std::chrono::milliseconds(50 + seed % 100);
  plan.rounds *= 3;
  plan.target_met_in.reset();
  return plan;
}

// It is left out, or they have come to the end before they noticed; nobody else is.
void ExpectThatOneGoesAlone(const RunPlan& plan, SimulatedRun& run, int* left_out) {
  ASSERT_TRUE(AllBegin(plan, run));
  const std::chrono::nanoseconds begun = run.elapsed();
  Rank bad = 0;
  for (const Fault& cut : BadNetwork(plan)) {
    run.RunUntil(begun + cut.at);
    run.Happen(cut);
    bad = cut.a;
  }
  ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    const absl::Status& ending = *run.node(rank).ending();
    if (rank == bad && !ending.ok()) {
      ASSERT_EQ(FailureOf(ending), Failure::kPeerLost);
      ++*left_out;
      continue;
    }
    ASSERT_EQ(ending, absl::OkStatus())
        << "rank " << rank << " goes, rank " << bad << " is cut off";
    ASSERT_EQ(run.node(rank).round(), plan.rounds);
  }
}

TEST(WholeNode, AHostThatCannotReachSeveralOthersGoesAlone) {
  int left_out = 0;
  ForEverySeed(CompletelyConnected, [&left_out](const RunPlan& plan, SimulatedRun& run) {
    ExpectThatOneGoesAlone(plan, run, &left_out);
  });
  EXPECT_GT(left_out, 0);
}

// On a graph that stays and goes both ways. By seed nodes average in pairs, or are served.
RunPlan SharingMortals(uint64_t seed) {
  RunPlan plan = MortalPlan(seed);
  plan.algorithm = std::array{"adpsgd",   "adpsgd:every=3",       "downpour:window=3",
                              "ps:async", "ps:async:staleness=1", "easgd:async:every=2"}[seed % 6];
  const auto topology = *MakeTopology(plan.topology, plan.nodes, 1);
  if (topology->period() != 1 || topology->directed()) plan.topology = "ring";
  plan.rounds *= 3;
  if (plan.target_met_in) *plan.target_met_in *= 3;
  return plan;
}

// Whatever befalls the others at any time, once all have begun: those who are spared do all that is
// left of the budget, and evaluate the mean of their models at the end.
void ExpectThatTheLivingUseUpTheBudget(const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
  ASSERT_TRUE(AllBegin(plan, run));
  const std::chrono::nanoseconds begun = run.elapsed();
  std::set<Rank> lost;
  for (const Fault& fault : Befalls(plan)) {
    run.RunUntil(begun + fault.at);
    run.Happen(fault);
    if (!IsMended(plan, fault)) lost.insert(fault.a);
  }
  ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
  int64_t gradients = 0;
  std::vector<Rank> living;
  const Rank workers = *WorkerCount(plan.algorithm, plan.nodes);
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    if (rank < workers) gradients += run.node(rank).gradients();
    const std::optional<absl::Status>& ending = run.node(rank).ending();
    // Who has lost but one connection may be spared.
    ASSERT_TRUE(lost.contains(rank) || (ending && ending->ok())) << "rank " << rank << *ending;
    if (ending && ending->ok()) living.push_back(rank);
  }
  const Round least = std::min(plan.target_met_in.value_or(plan.rounds), plan.rounds);
  ASSERT_GE(gradients, least * workers);
  ASSERT_FALSE(run.node(0).averages().empty());
  const AveragedModel& last = run.node(0).averages().back();
  ASSERT_GE(last.round, least);
  if (workers < plan.nodes) return;  // who is evaluated is not lost
  const int64_t elements = SimulatedNode::kParameters + SimulatedNode::kBuffers;
  const auto left = static_cast<Rank>(living.size());
  const bool of_the_living = last.bytes_sent == MergeBytes(left, elements);
  seen.Count("averages of those who go on without others", of_the_living && left < plan.nodes);
  if (!of_the_living) return;  // one was lost after that
  const std::vector<double> mean = MeanModel(run, living);
  for (size_t i = 0; i < mean.size(); ++i) ASSERT_NEAR(last.model.span()[i], mean[i], 1e-4);
}

TEST(WholeNode, WorkersGoOnWhoeverDiesWhen) {
  ForEverySeed(
      [](uint64_t seed) {
        RunPlan plan = MortalPlan(seed);
        plan.algorithm = seed % 2 == 0 || plan.nodes < 3 ? "ps" : "ps:servers=2";
        return plan;
      },
      ExpectThatTheLivingGoOn);
}

TEST(WholeNode, TheLivingUseUpTheBudgetWhoeverDiesWhen) {
  ForEverySeed(SharingMortals, ExpectThatTheLivingUseUpTheBudget);
}

constexpr Round kMostInFlight = 2;  // sgp:overlap=2

RunPlan SavingMortals(uint64_t seed) {
  RunPlan plan = MortalPlan(seed);
  plan.saved_every = 1 + static_cast<Round>(seed % 3);
  return plan;
}

// All have parts of them who are there at the end, and what these had saved before their last one
// is complete by then.
void ExpectCheckpointsOfTheLiving(const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
  ExpectThatTheLivingGoOn(plan, run, seen);
  if (::testing::Test::HasFatalFailure()) return;
  std::optional<Round> told;
  const std::vector<CheckpointDesk::Complete>& complete = run.node(0).checkpoints();
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    if (!run.node(rank).ending() || !run.node(rank).ending()->ok()) continue;
    for (const auto& checkpoint : complete) {
      ASSERT_TRUE(checkpoint.parts.contains(rank)) << rank << " in round " << checkpoint.round;
    }
    const std::vector<Round>& saved = run.node(rank).saved();
    // But for what awaits replicas that are in flight at the end.
    ASSERT_GE(static_cast<Round>(saved.size()) + kMostInFlight,
              run.node(rank).round() / plan.saved_every);
    const Round before = saved.size() < 2 ? 0 : saved[saved.size() - 2];
    told = std::min(told.value_or(before), before);
  }
  ASSERT_TRUE(told.has_value());
  seen.Count("checkpoints of the living", *told > 0);
  if (*told == 0) return;
  ASSERT_FALSE(complete.empty());
  ASSERT_GE(complete.back().round, *told);
  ASSERT_TRUE(std::ranges::is_sorted(complete, {}, &CheckpointDesk::Complete::round));
}

// Where rank 0 stays.
RunPlan SavingReturners(uint64_t seed) {
  RunPlan plan = ReturningPlan(seed);
  plan.role_moves = false;
  plan.saved_every = 1 + static_cast<Round>(seed % 3);
  return plan;
}

// Checkpoints go on as the rounds do, and whoever is in the run has its parts of them.
void ExpectCheckpointsOfTheReturned(const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
  ASSERT_TRUE(AllBegin(plan, run));
  const std::set<Rank> killed = KillAndReturn(plan, run);
  ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
  ASSERT_EQ(*run.node(0).ending(), absl::OkStatus());
  const std::vector<CheckpointDesk::Complete>& complete = run.node(0).checkpoints();
  ASSERT_TRUE(std::ranges::is_sorted(complete, std::ranges::less_equal{},
                                     &CheckpointDesk::Complete::round));
  Round saved_by_all = plan.rounds;  // before the last
  int of_returned = 0;
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    if (!run.node(rank).ending() || !run.node(rank).ending()->ok()) continue;
    const std::vector<Round>& saved = run.node(rank).saved();
    saved_by_all = std::min(saved_by_all, saved.size() < 2 ? 0 : saved[saved.size() - 2]);
    for (const auto& checkpoint : complete) {
      if (!std::ranges::binary_search(saved, checkpoint.round)) continue;
      ASSERT_TRUE(checkpoint.parts.contains(rank)) << rank << " in round " << checkpoint.round;
      of_returned += killed.contains(rank);
    }
  }
  seen.Count("parts of those who have come back", of_returned);
  seen.Count("checkpoints that all have saved", saved_by_all > 0);
  if (saved_by_all == 0) return;
  ASSERT_FALSE(complete.empty());
  ASSERT_GE(complete.back().round, saved_by_all);
}

TEST(WholeNode, WhoComesBackIsInTheCheckpoints) {
  ForEverySeed(SavingReturners, ExpectCheckpointsOfTheReturned);
}

TEST(WholeNode, TheLivingHaveCheckpointsWhoeverDiesWhen) {
  ForEverySeed(SavingMortals, ExpectCheckpointsOfTheLiving);
}

// Whoever has the role at last has what the living had saved before their last one, or it was
// complete at another.
void ExpectThatCheckpointsMoveToo(const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
  ExpectThatAnotherTakesOver(plan, run, seen);
  if (::testing::Test::HasFatalFailure()) return;
  Round complete = 0;
  int moved = 0;
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    Round last = 0;
    for (const CheckpointDesk::Complete& checkpoint : run.node(rank).checkpoints()) {
      ASSERT_GT(checkpoint.round, last) << "at rank " << rank;
      last = checkpoint.round;
      moved += rank > 0;
    }
    complete = std::max(complete, last);
  }
  Round told = plan.rounds;
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    if (!run.node(rank).ending() || !run.node(rank).ending()->ok()) continue;
    const std::vector<Round>& saved = run.node(rank).saved();
    told = std::min(told, saved.size() < 2 ? 0 : saved[saved.size() - 2]);
  }
  seen.Count("checkpoints where the role has gone", moved);
  seen.Count("checkpoints that all have saved", told > 0);
  ASSERT_GE(complete, told);
}

TEST(WholeNode, CheckpointsGoOnWhereAnotherTakesTheRoleOver) {
  ForEverySeed([](uint64_t seed) { return WithStore(SavingMortals(seed)); },
               ExpectThatCheckpointsMoveToo);
}

// By rounds or by the time.
RunPlan SavingSharers(RunPlan plan) {
  KeyedRandom random(plan.seed, Purpose::kPlacement, 1);
  if (random.Below(2) == 0) {
    plan.saved_every = 1 + static_cast<Round>(random.Below(4));
  } else {
    plan.checkpoint_every = std::chrono::milliseconds(1 + random.Below(40));
  }
  return plan;
}

// Of the gradients of all who are in the weights, none is in one part of a checkpoint alone.
void ExpectCheckpointsToBelongTogether(const RunPlan& plan, const SimulatedRun& run,
                                       Sightings& seen) {
  const Rank workers = *WorkerCount(plan.algorithm, plan.nodes);
  const std::vector<CheckpointDesk::Complete>& complete = run.node(0).checkpoints();
  seen.Count("checkpoints of all",
             std::ranges::count(complete, false, &CheckpointDesk::Complete::changed));
  Round last = 0;
  for (const CheckpointDesk::Complete& checkpoint : complete) {
    ASSERT_GT(checkpoint.round, last);
    last = checkpoint.round;
    Round steps = 0;
    for (const auto& [rank, part] : checkpoint.parts) {
      ASSERT_TRUE(run.node(rank).states().contains(checkpoint.round)) << "rank " << rank;
      ASSERT_EQ(run.node(rank).states().at(checkpoint.round).round, part.steps());
      if (rank < workers) steps += part.steps();
    }
    if (checkpoint.changed) continue;  // the lost have done some
    ASSERT_EQ(static_cast<Rank>(checkpoint.parts.size()), plan.nodes);
    ASSERT_GE(steps, checkpoint.round * workers);
    for (Rank server = workers; server < plan.nodes; ++server) {
      ASSERT_EQ(run.node(server).states().at(checkpoint.round).numbers.at("gradients"),
                static_cast<double>(steps));
    }
  }
}

TEST(WholeNode, NodesWithoutRoundsHaveCheckpointsOfOneMoment) {
  ForEverySeed(
      [](uint64_t seed) {
        RunPlan plan = Sharing(HealthyPlan(seed));
        plan.algorithm = std::array{"adpsgd", "downpour:window=3", "ps:async:staleness=1",
                                    "easgd:async:every=2"}[seed % 4];
        return SavingSharers(plan);
      },
      [](const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
        ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
        Round steps = 0;
        const Rank workers = *WorkerCount(plan.algorithm, plan.nodes);
        for (Rank rank = 0; rank < workers; ++rank) steps += run.node(rank).round();
        ASSERT_EQ(steps, LastRound(plan) * workers);
        ExpectAllMeasurements(plan, run);
        ExpectCheckpointsToBelongTogether(plan, run, seen);
      });
}

TEST(WholeNode, TheLivingWithoutRoundsHaveCheckpointsWhoeverDiesWhen) {
  ForEverySeed([](uint64_t seed) { return SavingSharers(SharingMortals(seed)); },
               [](const RunPlan& plan, SimulatedRun& run, Sightings& seen) {
                 ExpectThatTheLivingUseUpTheBudget(plan, run, seen);
                 if (::testing::Test::HasFatalFailure()) return;
                 ExpectCheckpointsToBelongTogether(plan, run, seen);
               });
}

TEST(WholeNode, OneThatIsLostEndsAllWithOneVerdict) { ForEverySeed(FatalPlan, ExpectOneVerdict); }

// Two of them are never connected, and both talk to rank 0, which may be one of the two.
RunPlan Unmet(uint64_t seed) {
  RunPlan plan = MortalPlan(seed);
  plan.algorithm = "dpsgd";
  plan.topology = "complete";
  plan.role_moves = seed % 2 == 0;
  const auto a = static_cast<Rank>(seed % static_cast<uint64_t>(plan.nodes));
  plan.faults = {{.kind = Fault::Kind::kCut,
                  .a = a,
                  .b = (a + 1) % plan.nodes,
                  .lasts = std::chrono::hours(1)}};
  return plan;
}

TEST(WholeNode, TwoThatAreNeverConnectedEndTheRunForAll) {
  PlaySeeds(kSeeds, 1, [](uint64_t seed, Sightings&) {
    const RunPlan plan = Unmet(seed);
    SCOPED_TRACE(Describe(plan));
    SimulatedRun run(plan, {});
    ASSERT_EQ(run.Run(kDeadline), absl::OkStatus());
    for (Rank rank = 0; rank < plan.nodes; ++rank) {
      SCOPED_TRACE(absl::StrCat("rank ", rank));
      const absl::Status& ending = *run.node(rank).ending();
      ASSERT_EQ(FailureOf(ending), Failure::kRendezvous) << ending;
      ASSERT_THAT(std::string(ending.message()),
                  AllOf(HasSubstr("have never been connected"),
                        HasSubstr(absl::StrCat("rank ", plan.faults[0].a, " at ")),
                        HasSubstr(absl::StrCat("rank ", plan.faults[0].b, " at "))));
    }
  });
}

RunPlan FatalSharing(uint64_t seed) {
  RunPlan plan = Sharing(FatalPlan(seed));
  plan.faults[0].round = 0;  // which every node comes to
  return plan;
}

TEST(WholeNode, OneThatIsLostEndsARunWithoutRoundsWithOneVerdict) {
  ForEverySeed(FatalSharing, ExpectOneVerdict);
}

TEST(WholeNode, OneThatIsLostEndsARunWithoutRoundsThatSavesWithOneVerdict) {
  ForEverySeed(
      [](uint64_t seed) {
        RunPlan plan = FatalSharing(seed);
        if (plan.algorithm == "solo" || plan.algorithm == "eager-gossip") plan.algorithm = "adpsgd";
        return SavingSharers(plan);
      },
      ExpectOneVerdict);
}

TEST(WholeNode, OneThatIsLostEndsAGrowingRunWithOneVerdict) {
  ForEverySeed(
      [](uint64_t seed) {
        RunPlan plan = Growing(FatalPlan(seed));
        plan.target_met_in.reset();  // it may end before a node diverges
        // Most nodes wait for the decision of an evaluation by then.
        plan.evaluation = std::chrono::milliseconds(700);
        return plan;
      },
      ExpectOneVerdict);
}

}  // namespace
}  // namespace grapevine::testing
