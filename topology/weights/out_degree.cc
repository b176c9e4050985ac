// out-degree: P_ij = 1/(1 + the out-degree of j). Every node gives equal shares to itself and to
// the nodes that it sends to, whatever the graph. Columns sum to 1, rows need not (stochastic
// gradient push, Assran et al. 2019, arXiv:1811.10792, section 2).
//
// Thread-safety: immutable.
#include <memory>
#include <utility>

#include "base/spec.h"
#include "base/status.h"
#include "topology/weights/equal_degrees.h"
#include "topology/weights/mixing.h"

namespace grapevine {
namespace {

class OutDegree final : public Mixing {
 public:
  explicit OutDegree(std::shared_ptr<const Topology> topology)
      : topology_(std::move(topology)),
        stochastic_(FindUnequalDegrees(*topology_) ? Stochastic::kColumns : Stochastic::kDoubly) {}

  std::string name() const override { return "out-degree"; }
  const Topology& topology() const override { return *topology_; }
  Stochastic stochastic() const override { return stochastic_; }

  void Row(Rank rank, Round round, MixingRow* row) const override {
    static thread_local std::vector<Rank> neighbours;
    topology_->InNeighbours(rank, round, &neighbours);
    row->self = Share(rank, round);
    row->in.clear();
    for (const Rank neighbour : neighbours) row->in.push_back({neighbour, Share(neighbour, round)});
  }

  std::optional<std::complex<double>> Eigenvalue(Rank k, Round round) const override {
    if (stochastic_ != Stochastic::kDoubly) return std::nullopt;
    return topology_->MetropolisEigenvalue(k, round);
  }

 private:
  double Share(Rank rank, Round round) const {
    return 1.0 / (1 + topology_->OutDegree(rank, round));
  }

  const std::shared_ptr<const Topology> topology_;
  const Stochastic stochastic_;
};

absl::StatusOr<std::shared_ptr<const Mixing>> MakeOutDegree(
    const Spec& spec, std::shared_ptr<const Topology> topology) {
  RETURN_IF_ERROR(SpecReader(spec).Finish());
  return std::make_shared<OutDegree>(std::move(topology));
}

const Registration kOutDegree(Mixings(), {.name = "out-degree",
                                          .help = "1/(the sender's out-degree + 1), for push-sum",
                                          .examples = {"out-degree"},
                                          .make = MakeOutDegree});

}  // namespace
}  // namespace grapevine
