#include "algorithm/server/async_easgd.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "algorithm/local/elastic_centre.h"
#include "algorithm/local/local_optimizer.h"
#include "algorithm/server/async_parameter_server.h"
#include "algorithm/server/shard_layout.h"
#include "base/status.h"

namespace grapevine {
namespace {

class ElasticReplica final : public WorkerRule {
 public:
  // Number of vectors as long as the replica, in addition to the optimizer's state: the replica,
  // and the gradient or what moves the replica.
  static constexpr int64_t kVectors = 2;

  explicit ElasticReplica(LearningRate learning_rate) : step_(std::move(learning_rate)) {}

  void Start(Vec model, Round step, Host& host) override;
  void VisitState(StateVisitor& state) override {
    state.Vector("replica", replica_);
    step_.VisitState(state);
  }
  Vec model() const override { return replica_; }
  void OnGradient(Vec gradient, Round step, Round nominal_round, Host& host) override;
  Vec Push(Host& host) override { return replica_; }
  void OnAnswer(Vec answer, Host& host) override;

 private:
  OwnStep step_;
  Vec replica_;
};

class ElasticServer final : public ServerRule {
 public:
  // Number of vectors as long as the server's range: the centre, the centre after its move, an
  // update that arrives, and two answers, one of which may have been an update.
  static constexpr int64_t kVectors = 5;

  // `alpha` gives alpha by nominal round.
  explicit ElasticServer(LearningRate alpha) : alpha_(std::move(alpha)) {}

  void Start(ReplicaRange range, Host& host) override { size_ = range.size; }
  Moved Apply(const Update& update, Vec weights, Host& host) override;

 private:
  const LearningRate alpha_;
  int64_t size_ = 0;
};

void ElasticReplica::Start(Vec model, Round step, Host& host) {
  replica_ = model;
  step_.Start(step, host);
}

void ElasticReplica::OnGradient(Vec gradient, Round step, Round nominal_round, Host& host) {
  const Vec stepped = step_.Take(replica_, gradient, step, nominal_round, host);
  host.Drop(std::exchange(replica_, stepped));
}

void ElasticReplica::OnAnswer(Vec answer, Host& host) {
  const Part moved{answer, 0, host.replica_size()};
  const Term terms[] = {{1.0, {replica_, 0, host.replica_size()}}, {-1.0, moved}};
  host.Combine(moved, terms);
  host.Drop(std::exchange(replica_, answer));
}

ServerRule::Moved ElasticServer::Apply(const Update& update, Vec weights, Host& host) {
  const Part centre{weights, 0, size_};
  const Part pull{update.vector, 0, size_};
  const double alpha = alpha_(update.nominal_round);
  const Term difference[] = {{alpha, pull}, {-alpha, centre}};
  host.Combine(pull, difference);
  const Vec moved = host.New(size_, "the moved centre");
  const Term sum[] = {{1.0, centre}, {1.0, pull}};
  host.Combine({moved, 0, size_}, sum);
  host.Drop(weights);
  return {.weights = moved, .answer = update.vector};
}

bool IsAsync(const Spec& spec) { return !spec.arguments.empty() && spec.arguments[0] == "async"; }

struct ElasticSpec {
  ShardLayout shards;
  int64_t every;
  ElasticRate rate;
};

absl::StatusOr<ElasticSpec> Parse(const Spec& spec, Rank nodes) {
  SpecReader reader(spec);
  reader.Argument();
  const int64_t every = reader.Integer("every", 1, 1, kMaxWindow);
  const std::optional<double> rho = ElasticRate::ReadRho(reader);
  const int64_t servers = ShardLayout::ReadServers(reader);
  RETURN_IF_ERROR(reader.Finish());
  ASSIGN_OR_RETURN(const ShardLayout shards, ShardLayout::Make(spec, servers, nodes));
  return ElasticSpec{.shards = shards, .every = every, .rate = {shards.workers(), rho}};
}

absl::StatusOr<std::unique_ptr<Algorithm>> Make(const Spec& spec, AlgorithmOptions options) {
  ASSIGN_OR_RETURN(const ElasticSpec read, Parse(spec, options.mixing->topology().size()));
  const ShardLayout& shards = read.shards;
  if (!shards.IsServer(options.rank)) {
    return std::make_unique<AsyncWorker>(
        shards, options.rank,
        AsyncWorkerOptions{.window = read.every,
                           .workers = options.PlannedWorkers(shards.workers())},
        std::make_unique<ElasticReplica>(std::move(options.learning_rate)));
  }
  const auto alpha = [rate = read.rate, learning_rate = std::move(options.learning_rate)](
                         Round round) { return rate.Alpha(learning_rate(round)); };
  return std::make_unique<AsyncServer>(
      shards, options.rank, read.every, options.PlannedWorkers(shards.workers()),
      StalenessGate(shards.workers(), std::nullopt), std::make_unique<ElasticServer>(alpha));
}

// Exact except at the end of a run, where a worker meets the centre after fewer steps.
absl::StatusOr<double> Messages(const Spec& spec, const Topology& topology) {
  ASSIGN_OR_RETURN(const ElasticSpec read, Parse(spec, topology.size()));
  return 2.0 * read.shards.workers() * read.shards.servers() / static_cast<double>(read.every);
}

absl::StatusOr<int64_t> Memory(const Spec& spec, const Topology& topology, int64_t size,
                               int state_vectors) {
  ASSIGN_OR_RETURN(const ElasticSpec read, Parse(spec, topology.size()));
  return std::max((ElasticReplica::kVectors + state_vectors) * size,
                  ElasticServer::kVectors * read.shards.LargestShard(size));
}

}  // namespace

AlgorithmKind WithAsyncEasgd(AlgorithmKind synchronous) {
  AlgorithmKind kind = synchronous;
  kind.options = absl::StrCat("[:async[:servers=S]]", synchronous.options);
  absl::StrAppend(&kind.help,
                  "; async: the last S ranks are servers that keep the centre, and workers meet it "
                  "one by one");
  kind.examples.push_back(absl::StrCat(kind.name, ":async"));
  kind.examples.push_back(absl::StrCat(kind.name, ":async:every=3:servers=2"));
  kind.make = [make = synchronous.make](const Spec& spec, AlgorithmOptions options) {
    return IsAsync(spec) ? Make(spec, std::move(options)) : make(spec, std::move(options));
  };
  kind.rounds = [](const Spec& spec) { return !IsAsync(spec); };
  kind.resilient = [resilient = synchronous.resilient](const Spec& spec) {
    return IsAsync(spec) || (resilient && resilient(spec));
  };
  kind.window = [](const Spec& spec) {
    return SpecReader(spec).Integer("every", 1, 1, kMaxWindow);
  };
  kind.evaluated = [](const Spec& spec) {
    return IsAsync(spec) ? EvaluatedModel::kServersWeights : EvaluatedModel::kWorkersMean;
  };
  kind.workers = [](const Spec& spec, Rank nodes) -> absl::StatusOr<Rank> {
    if (!IsAsync(spec)) return nodes;
    ASSIGN_OR_RETURN(const ElasticSpec read, Parse(spec, nodes));
    return read.shards.workers();
  };
  kind.messages = [messages = synchronous.messages](const Spec& spec, const Topology& topology,
                                                    const RunLength& length) {
    return IsAsync(spec) ? Messages(spec, topology) : messages(spec, topology, length);
  };
  kind.memory = [memory = synchronous.memory](const Spec& spec, const Topology& topology,
                                              int64_t size, int state_vectors) {
    return IsAsync(spec) ? Memory(spec, topology, size, state_vectors)
                         : memory(spec, topology, size, state_vectors);
  };
  return kind;
}

}  // namespace grapevine
