// An algorithm of your own that is made of one of Grapevine's: D-PSGD whose averaging fades.
//
//   --algorithm=fading-gossip:halving=100:least=0.1
//
// The matrix of a round is (1 - s) I + s W. The share s is 1 at first, and half of it after every
// so many rounds, down to the least: how far apart the replicas are matters early in a run above
// all (Kong et al. 2021, arXiv:2102.04828).
#include <algorithm>
#include <cmath>
#include <cstdint>
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

struct Fading {
  int64_t halving;  // rounds
  double least;

  double Share(Round round) const {
    constexpr Round kMostHalvings = 1000;  // a double has no smaller ones
    return std::max(least, std::ldexp(1.0, -static_cast<int>(std::min(round / halving,
                                                                      kMostHalvings))));
  }
};

// Doubly stochastic where the inner one is, so that the replicas' mean is preserved.
class FadingMixing final : public Mixing {
 public:
  FadingMixing(Fading fading, std::shared_ptr<const Mixing> inner)
      : fading_(fading), inner_(std::move(inner)) {}

  std::string name() const override { return absl::StrCat("fading:", inner_->name()); }
  const grapevine::Topology& topology() const override { return inner_->topology(); }
  grapevine::Stochastic stochastic() const override { return inner_->stochastic(); }

  void Row(Rank rank, Round round, grapevine::MixingRow* row) const override {
    const double share = fading_.Share(round);
    inner_->Row(rank, round, row);
    row->self = 1 - share + share * row->self;
    for (grapevine::Neighbour& neighbour : row->in) neighbour.weight *= share;
  }

 private:
  const Fading fading_;
  const std::shared_ptr<const Mixing> inner_;
};

absl::StatusOr<std::unique_ptr<Algorithm>> Make(const Spec& spec, AlgorithmOptions options) {
  grapevine::SpecReader reader(spec);
  const Fading fading{.halving = reader.Integer("halving", 100, 1, 1000000000),
                      .least = reader.Real("least", 0.1, 0, 1)};
  RETURN_IF_ERROR(reader.Finish());
  options.mixing = std::make_shared<FadingMixing>(fading, std::move(options.mixing));
  return grapevine::MakeAlgorithm(kDpsgd, std::move(options));
}

const grapevine::Registration kFadingGossip(
    grapevine::Algorithms(),
    {.name = "fading-gossip",
     .options = "[:halving=100][:least=0.1]",
     .help = "D-PSGD that averages less and less",
     .examples = {"fading-gossip", "fading-gossip:halving=3:least=0"},
     .make = Make,
     .memory =
         [](const Spec&, const grapevine::Topology& topology, int64_t size, int state_vectors) {
           return grapevine::LargestMemory(kDpsgd, topology, size, state_vectors);
         },
     .advised = [](Rank) { return std::vector<std::string>{"fading-gossip"}; }});

}  // namespace
