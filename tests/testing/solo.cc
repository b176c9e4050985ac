// The smallest algorithm without rounds: each node steps for itself, and sends nothing. For tests
// of the budget of gradients that nodes share.
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "algorithm/algorithm.h"
#include "algorithm/algorithm_kind.h"
#include "base/status_macros.h"

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
    return absl::InternalError(absl::StrCat("an event came unasked in step ", steps_));
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

absl::StatusOr<std::unique_ptr<Algorithm>> Make(const Spec& spec, AlgorithmOptions options) {
  SpecReader reader(spec);
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<Solo>(std::move(options));
}

const Registration kSolo(Algorithms(),
                         {.name = "solo",
                          .help = "each node trains for itself, as fast as it can",
                          .examples = {"solo"},
                          .make = Make,
                          .rounds = [](const Spec&) { return false; },
                          .messages = [](const Spec&, const Topology&) { return 0.0; }});

}  // namespace
}  // namespace grapevine::testing
