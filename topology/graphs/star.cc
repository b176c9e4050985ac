// star: rank 0 is in the middle, and every other node talks to it alone.
//
// Thread-safety: immutable.
#include <memory>
#include <numeric>

#include "base/status.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

class Star final : public Topology {
 public:
  explicit Star(Rank n) : n_(n) {}

  std::string name() const override { return "star"; }
  Rank size() const override { return n_; }
  Round period() const override { return 1; }
  bool directed() const override { return false; }

  void InNeighbours(Rank rank, Round round, std::vector<Rank>* neighbours) const override {
    neighbours->resize(Degree(rank, round));
    std::iota(neighbours->begin(), neighbours->end(), rank == 0 ? 1 : 0);
  }
  void OutNeighbours(Rank rank, Round round, std::vector<Rank>* neighbours) const override {
    InNeighbours(rank, round, neighbours);
  }
  Rank Degree(Rank rank, Round) const override { return rank == 0 ? n_ - 1 : 1; }
  // The eigenvalue is 1 - 1/n for every difference of two leaves, and 0 for the middle against the
  // leaves.
  std::optional<std::complex<double>> MetropolisEigenvalue(Rank k, Round) const override {
    if (k == 0) return 1.0;
    return k == n_ - 1 ? 0.0 : 1 - 1.0 / n_;
  }

 private:
  const Rank n_;
};

// "star"; any n.
absl::StatusOr<std::shared_ptr<const Topology>> MakeStar(const Spec& spec, Rank n, uint64_t) {
  RETURN_IF_ERROR(SpecReader(spec).Finish());
  return std::make_shared<Star>(n);
}

const Registration kStar(Topologies(), {.name = "star",
                                        .help = "rank 0 in the middle",
                                        .examples = {"star"},
                                        .make = MakeStar});

}  // namespace
}  // namespace grapevine
