// Parameter servers that step along gradients, synchronous (parameter_server.h) or asynchronous.
//
// In asynchronous SGD (ASGD; Dean et al. 2012, Lian et al. 2015, arXiv:1506.08272), a worker gives
// its gradient at the weights that it had last, and a server steps along it, x' = x - lr u(g).
// DynSGD (Jiang et al. 2017) divides the update by one more than its staleness; here the learning
// rate is divided, so that batch-norm statistics stay averages.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm.h"
#include "algorithm/algorithm_kind.h"
#include "algorithm/server/async_parameter_server.h"
#include "algorithm/server/parameter_server.h"
#include "algorithm/server/shard_layout.h"
#include "base/status.h"

namespace grapevine {
namespace {

// The worker's rule. Keeps no state of the optimizer, and two replicas: the weights, and the
// gradient or the answer to it.
class GradientPusher final : public WorkerRule {
 public:
  static constexpr int64_t kVectors = 2;

  void Start(Vec model, Round, Host&) override { weights_ = model; }
  void VisitState(StateVisitor& state) override { state.Vector("replica", weights_); }
  Vec model() const override { return weights_; }
  void OnGradient(Vec gradient, Round step, Round nominal_round, Host& host) override;
  Vec Push(Host& host) override;
  void OnAnswer(Vec answer, Host& host) override;

 private:
  Vec weights_;
  Vec gradient_;
};

// The server's rule. The learning rate is that of the nominal round: a schedule means the same part
// of the run as with any other algorithm, however fast a worker is.
class SteppingServer final : public ServerRule {
 public:
  // `adaptive` selects DynSGD.
  SteppingServer(LearningRate learning_rate, bool adaptive)
      : learning_rate_(std::move(learning_rate)), adaptive_(adaptive) {}

  void Start(ReplicaRange range, Host& host) override;
  void VisitState(StateVisitor& state) override { state.Vector("optimizer", state_); }
  Moved Apply(const Update& update, Vec weights, Host& host) override;

 private:
  const LearningRate learning_rate_;
  const bool adaptive_;
  ReplicaRange range_;
  Vec state_;
};

void GradientPusher::OnGradient(Vec gradient, Round, Round, Host&) { gradient_ = gradient; }

// Drops the old weights to make room for the new ones.
Vec GradientPusher::Push(Host& host) {
  host.Drop(std::exchange(weights_, Vec{}));
  return gradient_;
}

void GradientPusher::OnAnswer(Vec answer, Host& host) {
  for (const Vec old : {std::exchange(weights_, answer), std::exchange(gradient_, Vec{})}) {
    if (old) host.Drop(old);
  }
}

void SteppingServer::Start(ReplicaRange range, Host& host) {
  range_ = range;
  state_ = host.NewOptimizerState(range);
}

// Writes the new weights over the gradient.
ServerRule::Moved SteppingServer::Apply(const Update& update, Vec weights, Host& host) {
  const double divisor = adaptive_ ? static_cast<double>(update.staleness + 1) : 1;
  const Term own{1.0, {weights, 0, range_.size}};
  host.Step({.range = range_,
             .out = update.vector,
             .mix = {&own, 1},
             .own = weights,
             .gradient = update.vector,
             .state = state_,
             .step = update.version,
             .learning_rate = learning_rate_(update.nominal_round) / divisor});
  host.Drop(weights);
  return {.weights = update.vector};
}

constexpr int64_t kWindow = 1;  // gradients in an update
constexpr char kAsync[] = "async";
constexpr char kAdaptive[] = "adaptive";

bool IsAsync(const Spec& spec) { return !spec.arguments.empty() && spec.arguments[0] == kAsync; }

struct PsSpec {
  ShardLayout shards;
  bool adaptive = false;
  std::optional<int64_t> staleness;
};

absl::StatusOr<PsSpec> Parse(const Spec& spec, Rank nodes) {
  constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();
  SpecReader reader(spec);
  bool adaptive = false;
  int64_t staleness = kUnbounded;
  if (IsAsync(spec)) {
    reader.Argument();
    adaptive = spec.arguments.size() > 1 && spec.arguments[1] == kAdaptive;
    if (adaptive) reader.Argument();
    staleness = reader.Integer("staleness", kUnbounded, 0, 1'000'000);
  } else if (spec.options.contains("staleness") || std::ranges::count(spec.arguments, kAdaptive)) {
    return SpecError(spec.text, absl::StrCat("a synchronous server's gradients are never stale; "
                                             "staleness and adaptive follow ",
                                             spec.name, ":", kAsync));
  }
  const int64_t servers = ShardLayout::ReadServers(reader);
  RETURN_IF_ERROR(reader.Finish());
  ASSIGN_OR_RETURN(const ShardLayout shards, ShardLayout::Make(spec, servers, nodes));
  return PsSpec{.shards = shards,
                .adaptive = adaptive,
                .staleness = staleness == kUnbounded ? std::nullopt : std::optional(staleness)};
}

std::unique_ptr<Algorithm> MakeSync(const PsSpec& ps, AlgorithmOptions options) {
  if (ps.shards.IsServer(options.rank)) {
    return std::make_unique<PsServer>(ps.shards, std::move(options));
  }
  return std::make_unique<PsWorker>(ps.shards, std::move(options));
}

std::unique_ptr<Algorithm> MakeAsync(const PsSpec& ps, AlgorithmOptions options) {
  if (!ps.shards.IsServer(options.rank)) {
    return std::make_unique<AsyncWorker>(
        ps.shards, options.rank,
        AsyncWorkerOptions{.window = kWindow,
                           .tells_limit = ps.staleness.has_value(),
                           .workers = options.PlannedWorkers(ps.shards.workers())},
        std::make_unique<GradientPusher>());
  }
  return std::make_unique<AsyncServer>(
      ps.shards, options.rank, kWindow, options.PlannedWorkers(ps.shards.workers()),
      StalenessGate(ps.shards.workers(), ps.staleness),
      std::make_unique<SteppingServer>(std::move(options.learning_rate), ps.adaptive));
}

absl::StatusOr<std::unique_ptr<Algorithm>> Make(const Spec& spec, AlgorithmOptions options) {
  ASSIGN_OR_RETURN(const PsSpec ps, Parse(spec, options.mixing->topology().size()));
  return IsAsync(spec) ? MakeAsync(ps, std::move(options)) : MakeSync(ps, std::move(options));
}

EvaluatedModel Evaluated(const Spec& spec) {
  return IsAsync(spec) ? EvaluatedModel::kServersWeights : EvaluatedModel::kWorkersMean;
}

absl::StatusOr<Rank> Workers(const Spec& spec, Rank nodes) {
  ASSIGN_OR_RETURN(const PsSpec ps, Parse(spec, nodes));
  return ps.shards.workers();
}

absl::StatusOr<double> Messages(const Spec& spec, const Topology& topology, const RunLength&) {
  ASSIGN_OR_RETURN(const PsSpec ps, Parse(spec, topology.size()));
  return 2.0 * ps.shards.workers() * ps.shards.servers();
}

absl::StatusOr<std::vector<ReplicaRange>> Shards(const Spec& spec, Rank nodes, int64_t size) {
  ASSIGN_OR_RETURN(const PsSpec ps, Parse(spec, nodes));
  return ps.shards.Shards(size);
}

// The memory of a worker or of the largest server, whichever is more. A synchronous server has a
// buffer for every worker's gradient.
absl::StatusOr<int64_t> Memory(const Spec& spec, const Topology& topology, int64_t size,
                               int state_vectors) {
  ASSIGN_OR_RETURN(const PsSpec ps, Parse(spec, topology.size()));
  const int64_t vectors = IsAsync(spec) ? AsyncServer::kVectors : ps.shards.workers() + 2;
  return std::max(GradientPusher::kVectors * size,
                  (vectors + state_vectors) * ps.shards.LargestShard(size));
}

// Only synchronous servers are advised: only their rounds can be compared by time.
std::vector<std::string> Advised(Rank nodes) {
  std::vector<std::string> specs;
  for (const Rank servers : std::set<Rank>{1, nodes / 4, nodes / 2}) {
    if (servers < 1 || servers >= nodes) continue;
    specs.push_back(absl::StrCat("ps:servers=", servers));
  }
  return specs;
}

const Registration kPs(
    Algorithms(),
    {.name = "ps",
     .options = "[:async[:adaptive][:staleness=T]][:servers=S]",
     .help = "parameter servers: the last S ranks are servers, the others train. async: a server "
             "steps along each gradient as it comes, adaptive: by less the staler it is; no worker "
             "gets more than T steps ahead",
     .examples = {"ps", "ps:servers=2", "ps:async", "ps:async:servers=2:staleness=1",
                  "ps:async:adaptive:staleness=0"},
     .centralized = true,
     .make = Make,
     .rounds = [](const Spec& spec) { return !IsAsync(spec); },
     .resilient = [](const Spec&) { return true; },
     .evaluated = Evaluated,
     .workers = Workers,
     .messages = Messages,
     .step_ranges = Shards,
     .memory = Memory,
     .advised = Advised});

}  // namespace
}  // namespace grapevine
