#include "topology/mixing.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "topology/matrix_file.h"
#include "topology/metropolis.h"
#include "topology/spec.h"

namespace grapevine {
namespace {

// (I + W)/2: no eigenvalue below 0 (of a symmetric W).
class Lazy final : public Mixing {
 public:
  explicit Lazy(std::shared_ptr<const Mixing> inner) : inner_(std::move(inner)) {}

  std::string name() const override { return "lazy:" + inner_->name(); }
  const Topology& topology() const override { return inner_->topology(); }

  void Row(Rank rank, Round round, MixingRow* row) const override {
    inner_->Row(rank, round, row);
    row->self = (1 + row->self) / 2;
    for (Neighbour& neighbour : row->in) neighbour.weight /= 2;
  }

  std::optional<std::complex<double>> Eigenvalue(Rank k, Round round) const override {
    const auto inner = inner_->Eigenvalue(k, round);
    if (!inner) return std::nullopt;
    return (1.0 + *inner) / 2.0;
  }

 private:
  const std::shared_ptr<const Mixing> inner_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Mixing>> MakeMixing(std::string_view spec,
                                                         std::shared_ptr<const Topology> topology) {
  if (spec == "metropolis") return MakeMetropolis(std::move(topology));
  if (spec == "uniform") return MakeUniform(std::move(topology));
  if (spec == "lazy") spec = "lazy:metropolis";
  if (spec.starts_with("lazy:")) {
    auto inner = MakeMixing(spec.substr(5), std::move(topology));
    if (!inner.ok()) return inner.status();
    return std::make_shared<Lazy>(*std::move(inner));
  }
  if (spec.starts_with("file:")) return LoadMatrixFile(spec.substr(5), std::move(topology));
  return SpecError("'" + std::string(spec) + "'",
                   "unknown mixing; known are metropolis, uniform, lazy:MIXING, file:PATH");
}

}  // namespace grapevine
