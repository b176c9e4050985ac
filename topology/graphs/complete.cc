// complete: every node talks to every other node. Nothing is stored.
//
// Thread-safety: immutable.
#include <memory>
#include <numeric>

#include "base/status.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

class Complete final : public Topology {
 public:
  explicit Complete(Rank n) : n_(n) {}

  std::string name() const override { return "complete"; }
  Rank size() const override { return n_; }
  Round period() const override { return 1; }
  bool directed() const override { return false; }

  void InNeighbours(Rank rank, Round, std::vector<Rank>* neighbours) const override {
    neighbours->resize(n_ - 1);
    const auto middle = neighbours->begin() + rank;
    std::iota(neighbours->begin(), middle, 0);
    std::iota(middle, neighbours->end(), rank + 1);
  }
  void OutNeighbours(Rank rank, Round round, std::vector<Rank>* neighbours) const override {
    InNeighbours(rank, round, neighbours);
  }
  Rank Degree(Rank, Round) const override { return n_ - 1; }
  // W = 11'/n.
  std::optional<std::complex<double>> MetropolisEigenvalue(Rank k, Round) const override {
    return k == 0 ? 1.0 : 0.0;
  }

 private:
  const Rank n_;
};

// "complete"; any n.
absl::StatusOr<std::shared_ptr<const Topology>> MakeComplete(const Spec& spec, Rank n, uint64_t) {
  RETURN_IF_ERROR(SpecReader(spec).Finish());
  return std::make_shared<Complete>(n);
}

// The most nodes for which the messages of all are few enough to be worth a look.
constexpr Rank kMaxAdvised = 16;

const Registration kComplete(Topologies(), {.name = "complete",
                                            .help = "everyone talks to everyone",
                                            .examples = {"complete"},
                                            .make = MakeComplete,
                                            .advised = [](Rank n) {
                                              return std::vector<std::string>(
                                                  n <= kMaxAdvised ? 1 : 0, "complete");
                                            }});

}  // namespace
}  // namespace grapevine
