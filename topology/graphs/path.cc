// path: a line of nodes, each talking to the one before and the one after.
//
// Thread-safety: immutable.
#include <cmath>
#include <memory>
#include <numbers>

#include "base/status.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

class Path final : public Topology {
 public:
  explicit Path(Rank n) : n_(n) {}

  std::string name() const override { return "path"; }
  Rank size() const override { return n_; }
  Round period() const override { return 1; }
  bool directed() const override { return false; }

  void InNeighbours(Rank rank, Round, std::vector<Rank>* neighbours) const override {
    neighbours->clear();
    if (rank > 0) neighbours->push_back(rank - 1);
    if (rank + 1 < n_) neighbours->push_back(rank + 1);
  }
  void OutNeighbours(Rank rank, Round round, std::vector<Rank>* neighbours) const override {
    InNeighbours(rank, round, neighbours);
  }
  Rank Degree(Rank rank, Round) const override { return (rank > 0) + (rank + 1 < n_); }
  // W is I - L/3 from three nodes on; two nodes have weights of 1/2.
  std::optional<std::complex<double>> MetropolisEigenvalue(Rank k, Round) const override {
    if (k == 0) return 1.0;
    return n_ == 2 ? 0.0 : (1 + 2 * std::cos(std::numbers::pi * k / n_)) / 3;
  }

 private:
  const Rank n_;
};

// "path"; any n.
absl::StatusOr<std::shared_ptr<const Topology>> MakePath(const Spec& spec, Rank n, uint64_t) {
  RETURN_IF_ERROR(SpecReader(spec).Finish());
  return std::make_shared<Path>(n);
}

const Registration kPath(Topologies(), {.name = "path",
                                        .help = "a line of nodes",
                                        .examples = {"path"},
                                        .make = MakePath});

}  // namespace
}  // namespace grapevine
