// Asynchronous servers for accumulated updates: DOWNPOUR (Dean et al. 2012) and ADAG (Hermans,
// Spanakis and Möckel 2017, arXiv:1710.02368).
//
// A worker takes several steps of its own, gives the servers the sum of these steps, and goes on
// with the weights. A server adds the sum (DOWNPOUR), or the sum divided by the window (ADAG).
//
// Batch-norm statistics must stay averages. A worker gives the statistics that it has, and a server
// moves its own towards them by 1/n, where n is the number of workers.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "algorithm/algorithm_kind.h"
#include "algorithm/local/local_optimizer.h"
#include "algorithm/server/async_parameter_server.h"
#include "algorithm/server/shard_layout.h"
#include "base/status.h"

namespace grapevine {
namespace {

class WindowPusher final : public WorkerRule {
 public:
  // Number of vectors as long as the replica, in addition to the optimizer's state: the weights,
  // the worker's own model, and the gradient.
  static constexpr int64_t kVectors = 3;

  explicit WindowPusher(LearningRate learning_rate) : step_(std::move(learning_rate)) {}

  void Start(Vec model, Round step, Host& host) override;
  void VisitState(StateVisitor& state) override;
  Vec model() const override { return model_; }
  void OnGradient(Vec gradient, Round step, Round nominal_round, Host& host) override;
  Vec Push(Host& host) override;
  void OnAnswer(Vec answer, Host& host) override;

 private:
  OwnStep step_;
  Vec weights_;  // the servers' weights, as of the last exchange
  Vec model_;    // the same vector as weights_ before the first step
};

class AddingServer final : public ServerRule {
 public:
  // Adds the share `part` of each update; `workers` is the number of workers.
  AddingServer(double part, Rank workers) : part_(part), workers_(workers) {}

  void Start(ReplicaRange range, Host& host) override;
  Moved Apply(const Update& update, Vec weights, Host& host) override;

 private:
  const double part_;
  const Rank workers_;
  int64_t size_ = 0;
  int64_t parameters_ = 0;  // parameters in the server's range; buffers follow them
};

// Computes out <- first + second, unless `out` is empty.
void Sum(Part out, Term first, Term second, Host& host) {
  const Term terms[] = {first, second};
  if (out.size > 0) host.Combine(out, terms);
}

void WindowPusher::Start(Vec model, Round step, Host& host) {
  weights_ = model_ = model;
  step_.Start(step, host);
}

// Right after an exchange, the weights are the worker's model.
void WindowPusher::VisitState(StateVisitor& state) {
  state.Vector("replica", model_);
  step_.VisitState(state);
}

void WindowPusher::OnGradient(Vec gradient, Round step, Round nominal_round, Host& host) {
  const Vec stepped = step_.Take(model_, gradient, step, nominal_round, host);
  if (model_ != weights_) host.Drop(model_);
  model_ = stepped;
}

// No other component has seen the last step's model, so the update takes its place.
Vec WindowPusher::Push(Host& host) {
  const auto [offset, size] = host.parameters();
  const Part update{model_, offset, size};
  Sum(update, {1.0, update}, {-1.0, {weights_, offset, size}}, host);
  host.Drop(std::exchange(weights_, Vec{}));
  return model_;
}

void WindowPusher::OnAnswer(Vec answer, Host& host) {
  host.Drop(model_);
  weights_ = model_ = answer;
}

void AddingServer::Start(ReplicaRange range, Host& host) {
  size_ = range.size;
  parameters_ = std::clamp<int64_t>(host.parameters().size - range.offset, 0, range.size);
}

ServerRule::Moved AddingServer::Apply(const Update& update, Vec weights, Host& host) {
  const Vec moved = update.vector;
  const auto parameters = [&](Vec vector) { return Part{vector, 0, parameters_}; };
  const auto buffers = [&](Vec vector) { return Part{vector, parameters_, size_ - parameters_}; };
  Sum(parameters(moved), {1.0, parameters(weights)}, {part_, parameters(moved)}, host);
  const double share = 1.0 / workers_;
  Sum(buffers(moved), {1.0 - share, buffers(weights)}, {share, buffers(moved)}, host);
  host.Drop(weights);
  return {.weights = moved};
}

constexpr char kAdag[] = "adag";

struct WindowSpec {
  ShardLayout shards;
  int64_t window;
  double part;  // the share of an update that is added
};

absl::StatusOr<WindowSpec> Parse(const Spec& spec, Rank nodes) {
  SpecReader reader(spec);
  const int64_t window = reader.Integer("window", 1, 1, kMaxWindow);
  const int64_t servers = ShardLayout::ReadServers(reader);
  RETURN_IF_ERROR(reader.Finish());
  ASSIGN_OR_RETURN(const ShardLayout shards, ShardLayout::Make(spec, servers, nodes));
  return WindowSpec{.shards = shards,
                    .window = window,
                    .part = spec.name == kAdag ? 1.0 / static_cast<double>(window) : 1.0};
}

absl::StatusOr<std::unique_ptr<Algorithm>> Make(const Spec& spec, AlgorithmOptions options) {
  ASSIGN_OR_RETURN(const WindowSpec read, Parse(spec, options.mixing->topology().size()));
  const ShardLayout& shards = read.shards;
  if (shards.IsServer(options.rank)) {
    return std::make_unique<AsyncServer>(
        shards, options.rank, read.window, options.PlannedWorkers(shards.workers()),
        StalenessGate(shards.workers(), std::nullopt),
        std::make_unique<AddingServer>(read.part, shards.workers()));
  }
  return std::make_unique<AsyncWorker>(
      shards, options.rank,
      AsyncWorkerOptions{.window = read.window,
                         .workers = options.PlannedWorkers(shards.workers())},
      std::make_unique<WindowPusher>(std::move(options.learning_rate)));
}

absl::StatusOr<Rank> Workers(const Spec& spec, Rank nodes) {
  ASSIGN_OR_RETURN(const WindowSpec read, Parse(spec, nodes));
  return read.shards.workers();
}

// Exact except for the windows that the end of a run cuts short.
absl::StatusOr<double> Messages(const Spec& spec, const Topology& topology, const RunLength&) {
  ASSIGN_OR_RETURN(const WindowSpec read, Parse(spec, topology.size()));
  return 2.0 * read.shards.workers() * read.shards.servers() / static_cast<double>(read.window);
}

absl::StatusOr<int64_t> Memory(const Spec& spec, const Topology& topology, int64_t size,
                               int state_vectors) {
  ASSIGN_OR_RETURN(const WindowSpec read, Parse(spec, topology.size()));
  return std::max((WindowPusher::kVectors + state_vectors) * size,
                  AsyncServer::kVectors * read.shards.LargestShard(size));
}

AlgorithmKind Kind(std::string name, std::string help) {
  const std::string example = name + ":window=5";
  return {.name = std::move(name),
          .options = "[:window=H][:servers=S]",
          .help = std::move(help),
          .examples = {example, example + ":servers=2"},
          .centralized = true,
          .make = Make,
          .rounds = [](const Spec&) { return false; },
          .window =
              [](const Spec& spec) { return SpecReader(spec).Integer("window", 1, 1, kMaxWindow); },
          .resilient = [](const Spec&) { return true; },
          .evaluated = [](const Spec&) { return EvaluatedModel::kServersWeights; },
          .workers = Workers,
          .messages = Messages,
          .memory = Memory};
}

const Registration kDownpour(
    Algorithms(), Kind("downpour",
                       "DOWNPOUR: workers give the sum of every H steps (1) to asynchronous "
                       "servers, the last S ranks, which add it"));
const Registration kAdagKind(
    Algorithms(), Kind(kAdag,
                       "ADAG: as downpour, but servers add the sum divided by H, which holds at "
                       "windows where that diverges"));

}  // namespace
}  // namespace grapevine
