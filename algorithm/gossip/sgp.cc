// SGP by name: steps, then push-sum averages (push_sum_averaging.h).
#include <memory>
#include <utility>

#include "algorithm/algorithm_kind.h"
#include "algorithm/gossip/push_sum_averaging.h"
#include "algorithm/local/local_sgd.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

constexpr Round kMaxOverlap = 64;

absl::StatusOr<Round> OverlapOf(const Spec& spec) {
  SpecReader reader(spec);
  const Round overlap = reader.Integer("overlap", 0, 0, kMaxOverlap);
  RETURN_IF_ERROR(reader.Finish());
  return overlap;
}

absl::StatusOr<std::unique_ptr<Algorithm>> MakeSgp(const Spec& spec, AlgorithmOptions options) {
  ASSIGN_OR_RETURN(const Round overlap, OverlapOf(spec));
  LearningRate learning_rate = options.learning_rate;
  return std::make_unique<LocalSgd>(
      LocalSgdParts{.averaging = std::make_unique<PushSumAveraging>(overlap, std::move(options))},
      std::move(learning_rate));
}

absl::StatusOr<int64_t> Memory(const Spec& spec, const Topology& topology, int64_t size,
                               int state_vectors) {
  ASSIGN_OR_RETURN(const Round overlap, OverlapOf(spec));
  return ((overlap + 1) * (LargestInDegree(topology) + 1) + 2 + state_vectors) * size;
}

const Registration kSgp(
    Algorithms(),
    {.name = "sgp",
     .options = "[:overlap=0]",
     .help = "stochastic gradient push: push-sum averages, on directed graphs too; with overlap "
             "replicas may be so many rounds late",
     .examples = {"sgp", "sgp:overlap=1", "sgp:overlap=3"},
     .weights = {Stochastic::kDoubly, Stochastic::kColumns},
     .make = MakeSgp,
     // What is in flight between rounds cannot be carried from one view to the next.
     .resilient =
         [](const Spec& spec) {
           const absl::StatusOr<Round> overlap = OverlapOf(spec);
           return overlap.ok() && *overlap == 0;
         },
     .memory = Memory});

}  // namespace
}  // namespace grapevine
