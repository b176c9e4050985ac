#include "topology/weights/mixing.h"

#include <cmath>
#include <utility>

#include "base/spec.h"
#include "topology/weights/matrix_file.h"
#include "topology/weights/metropolis.h"

namespace grapevine {
namespace {

constexpr std::string_view kLazy = "lazy:";

// (I + W)/2, so many times: from the first on no eigenvalue (of a symmetric W)
// is below 0.
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

absl::StatusOr<std::shared_ptr<const Mixing>> MakePlain(std::string_view spec,
                                                        std::shared_ptr<const Topology> topology) {
  if (spec == "metropolis") return MakeMetropolis(std::move(topology));
  if (spec == "uniform") return MakeUniform(std::move(topology));
  if (spec.starts_with("file:")) return LoadMatrixFile(spec.substr(5), std::move(topology));
  return SpecError("'" + std::string(spec) + "'",
                   "unknown mixing; known are metropolis, uniform, lazy:MIXING, file:PATH");
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Mixing>> MakeMixing(std::string_view spec,
                                                         std::shared_ptr<const Topology> topology) {
  int times = 0;
  for (; spec.starts_with(kLazy); ++times) spec.remove_prefix(kLazy.size());
  if (spec == "lazy") {
    ++times;
    spec = "metropolis";
  }
  auto plain = MakePlain(spec, std::move(topology));
  if (!plain.ok() || times == 0) return plain;
  return std::make_shared<Lazy>(*std::move(plain), times);
}

}  // namespace grapevine
