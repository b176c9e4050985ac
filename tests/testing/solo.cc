// The smallest algorithm without rounds: each node steps for itself, and sends nothing. It calls
// every other gradient 3 updates old, so that there is something to measure. With servers=S the
// last S nodes hold the model that counts, and never change it. For tests of the budget of
// gradients that nodes share, of their records, and of what is evaluated.
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "algorithm/algorithm.h"
#include "algorithm/algorithm_kind.h"
#include "base/status.h"

namespace grapevine::testing {
namespace {

class Solo final : public Algorithm {
 public:
  explicit Solo(AlgorithmOptions options) : options_(std::move(options)) {}

  absl::Status On(const Event& event, Host& host) override {
    if (const auto* limit = std::get_if<RoundLimit>(&event)) {
      limit_ = std::max(limit_, limit->limit);
      if (started_ && !gradient_) BeginStep(host);
      return absl::OkStatus();
    }
    if (std::holds_alternative<Start>(event)) {
      replica_ = host.InitialReplica(host.whole_replica());
      state_ = host.NewOptimizerState(host.whole_replica());
      started_ = true;
      BeginStep(host);
      return absl::OkStatus();
    }
    const auto* ready = std::get_if<GradientReady>(&event);
    if (ready != nullptr && gradient_ && ready->round == steps_ && ready->whole()) {
      EndStep(host);
      return absl::OkStatus();
    }
    return absl::InternalError(
        absl::StrCat("an event came that nothing had asked for, in step ", steps_));
  }

  Round round() const override { return steps_; }
  std::vector<Waiting> waiting_for() const override { return {}; }
  std::vector<Rank> Peers(Round, Round) const override { return {}; }

 private:
  void BeginStep(Host& host) {
    if (steps_ >= limit_) return host.Rest(replica_);
    gradient_ = host.New(host.replica_size(), "the gradient");
    host.Gradient(replica_, gradient_, steps_);
  }

  void EndStep(Host& host) {
    const Vec stepped = std::exchange(gradient_, Vec{});
    const Term own{1.0, {replica_, 0, host.replica_size()}};
    host.Step({.range = host.whole_replica(),
               .out = stepped,
               .mix = {&own, 1},
               .own = replica_,
               .gradient = stepped,
               .state = state_,
               .step = steps_,
               .learning_rate = options_.learning_rate(steps_)});
    host.GradientApplied(steps_ % 2 * 3);
    host.Drop(std::exchange(replica_, stepped));
    host.Boundary(++steps_, replica_);
    BeginStep(host);
  }

  const AlgorithmOptions options_;
  Vec replica_;
  Vec state_;
  Vec gradient_;  // while it is computed
  Round steps_ = 0;
  Round limit_ = 0;
  bool started_ = false;
};

class IdleServer final : public Algorithm {
 public:
  IdleServer(Rank index, Rank servers) : index_(index), servers_(servers) {}

  absl::Status On(const Event& event, Host& host) override {
    if (std::holds_alternative<Start>(event)) {
      const int64_t begin = host.replica_size() * index_ / servers_;
      const int64_t end = host.replica_size() * (index_ + 1) / servers_;
      weights_ = host.InitialReplica({begin, end - begin});
    }
    if (weights_) host.Rest(weights_);
    return absl::OkStatus();
  }

  Round round() const override { return 0; }
  std::vector<Waiting> waiting_for() const override { return {}; }
  std::vector<Rank> Peers(Round, Round) const override { return {}; }

 private:
  const Rank index_;
  const Rank servers_;
  Vec weights_;
};

absl::StatusOr<Rank> Servers(const Spec& spec, Rank nodes) {
  SpecReader reader(spec);
  const auto servers = static_cast<Rank>(reader.Integer("servers", 0, 0, nodes - 1));
  RETURN_IF_ERROR(reader.Finish());
  return servers;
}

absl::StatusOr<Rank> Workers(const Spec& spec, Rank nodes) {
  ASSIGN_OR_RETURN(const Rank servers, Servers(spec, nodes));
  return nodes - servers;
}

absl::StatusOr<std::unique_ptr<Algorithm>> Make(const Spec& spec, AlgorithmOptions options) {
  const Rank nodes = options.mixing->topology().size();
  ASSIGN_OR_RETURN(const Rank workers, Workers(spec, nodes));
  if (options.rank < workers) return std::make_unique<Solo>(std::move(options));
  return std::make_unique<IdleServer>(options.rank - workers, nodes - workers);
}

EvaluatedModel Counts(const Spec& spec) {
  return spec.options.empty() ? EvaluatedModel::kWorkersMean : EvaluatedModel::kServersWeights;
}

const Registration kSolo(Algorithms(), {.name = "solo",
                                        .options = "[:servers=S]",
                                        .help = "each node trains for itself, as fast as it can",
                                        .examples = {"solo", "solo:servers=1"},
                                        .make = Make,
                                        .rounds = [](const Spec&) { return false; },
                                        .evaluated = Counts,
                                        .workers = Workers,
                                        .messages = [](const Spec&, const Topology&,
                                                       const RunLength&) { return 0.0; }});

}  // namespace
}  // namespace grapevine::testing
