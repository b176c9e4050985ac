// lazy: the mean of a matrix and the identity.
//
// Thread-safety: immutable.
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "base/spec.h"
#include "base/status.h"
#include "topology/weights/mixing.h"

namespace grapevine {
namespace {

constexpr std::string_view kLazy = "lazy:";

// Applies W -> (I + W)/2 `times` times. After the first time, no eigenvalue of a symmetric W is
// below 0.
class Lazy final : public Mixing {
 public:
  Lazy(std::shared_ptr<const Mixing> inner, int times)
      : inner_(std::move(inner)), times_(times), share_(std::ldexp(1, -times)) {}

  std::string name() const override {
    std::string name;
    for (int i = 0; i < times_; ++i) name += kLazy;
    return name + inner_->name();
  }
  const Topology& topology() const override { return inner_->topology(); }
  Stochastic stochastic() const override { return inner_->stochastic(); }

  void Row(Rank rank, Round round, MixingRow* row) const override {
    inner_->Row(rank, round, row);
    row->self = 1 - share_ + share_ * row->self;
    for (Neighbour& neighbour : row->in) neighbour.weight *= share_;
  }

  std::optional<std::complex<double>> Eigenvalue(Rank k, Round round) const override {
    const auto inner = inner_->Eigenvalue(k, round);
    if (!inner) return std::nullopt;
    return 1 - share_ + share_ * *inner;
  }

 private:
  const std::shared_ptr<const Mixing> inner_;
  const int times_;
  const double share_;
};

// "lazy:lazy:SPEC" halves twice; "lazy" alone is "lazy:metropolis".
absl::StatusOr<std::shared_ptr<const Mixing>> MakeLazy(const Spec& spec,
                                                       std::shared_ptr<const Topology> topology) {
  std::string_view text = spec.text;
  int times = 0;
  for (; text.starts_with(kLazy); ++times) text.remove_prefix(kLazy.size());
  if (text == "lazy") {
    ++times;
    text = "metropolis";
  }
  ASSIGN_OR_RETURN(auto inner, MakeMixing(text, std::move(topology)));
  return std::make_shared<Lazy>(std::move(inner), times);
}

const Registration kLazyMixing(Mixings(),
                               {.name = "lazy",
                                .options = "[:MIXING]",
                                .help = "(I + W)/2 of another mixing W",
                                .examples = {"lazy", "lazy:uniform", "lazy:lazy:metropolis"},
                                .tail = true,
                                .make = MakeLazy});

}  // namespace
}  // namespace grapevine
