// An algorithm of your own that is made of one of Grapevine's: D-PSGD whose nodes go only a part of
// the way to the average with their neighbours, as CHOCO-SGD's do (Koloskova et al. 2019,
// arXiv:1902.00340).
//
//   --algorithm=damped-gossip:step=0.5
//
// The mixing matrix is (1 - step) I + step W. An algorithm from the ground up is in Grapevine's
// examples/periodic_gossip.cc.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm.h"
#include "algorithm/algorithm_kind.h"
#include "base/status.h"
#include "topology/weights/mixing.h"

namespace {

using grapevine::Algorithm;
using grapevine::AlgorithmOptions;
using grapevine::Mixing;
using grapevine::Rank;
using grapevine::Round;
using grapevine::Spec;

// A local step, then the average.
constexpr char kDpsgd[] = "dpsgd:order=atc";

// Doubly stochastic where the inner one is, so that the replicas' mean stays.
class DampedMixing final : public Mixing {
 public:
  DampedMixing(double step, std::shared_ptr<const Mixing> inner)
      : step_(step), inner_(std::move(inner)) {}

  std::string name() const override { return absl::StrCat("damped:", inner_->name()); }
  const grapevine::Topology& topology() const override { return inner_->topology(); }
  grapevine::Stochastic stochastic() const override { return inner_->stochastic(); }

  void Row(Rank rank, Round round, grapevine::MixingRow* row) const override {
    inner_->Row(rank, round, row);
    row->self = 1 - step_ + step_ * row->self;
    for (grapevine::Neighbour& neighbour : row->in) neighbour.weight *= step_;
  }

 private:
  const double step_;
  const std::shared_ptr<const Mixing> inner_;
};

absl::StatusOr<std::unique_ptr<Algorithm>> Make(const Spec& spec, AlgorithmOptions options) {
  grapevine::SpecReader reader(spec);
  const double step = reader.Real("step", 0.5, 0, 1);
  RETURN_IF_ERROR(reader.Finish());
  options.mixing = std::make_shared<DampedMixing>(step, std::move(options.mixing));
  return grapevine::MakeAlgorithm(kDpsgd, std::move(options));
}

const grapevine::Registration kDampedGossip(
    grapevine::Algorithms(),
    {.name = "damped-gossip",
     .options = "[:step=0.5]",
     .help = "D-PSGD whose nodes go a part of the way to their neighbours' average",
     .examples = {"damped-gossip", "damped-gossip:step=0.1"},
     .make = Make,
     .memory =
         [](const Spec&, const grapevine::Topology& topology, int64_t size, int state_vectors) {
           return grapevine::LargestMemory(kDpsgd, topology, size, state_vectors);
         },
     .advised = [](Rank) { return std::vector<std::string>{"damped-gossip"}; }});

}  // namespace
