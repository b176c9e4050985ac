// Allreduce SGD by name: any kind of allreduce, whole or in buckets.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "algorithm/allreduce/allreduce_registry.h"
#include "algorithm/allreduce/allreduce_schedule.h"
#include "algorithm/allreduce/allreduce_sgd.h"
#include "algorithm/allreduce/bucketed_sum.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

// Each posts up to Collective::kMaxAhead messages ahead, and a transport has a
// bound for those of one peer.
constexpr int64_t kMaxBuckets = 32;

struct Request {
  AllreduceFactory make;
  int64_t buckets;
};

absl::StatusOr<Request> Read(const Spec& spec, Rank size) {
  SpecReader reader(spec);
  ASSIGN_OR_RETURN(AllreduceFactory make, ReadAllreduce(spec, reader, size));
  const int64_t buckets = reader.Integer("buckets", 1, 1, kMaxBuckets);
  RETURN_IF_ERROR(reader.Finish());
  return Request{std::move(make), buckets};
}

absl::StatusOr<std::unique_ptr<Algorithm>> MakeAllreduce(const Spec& spec,
                                                         AlgorithmOptions options) {
  ASSIGN_OR_RETURN(const Request request, Read(spec, options.mixing->topology().size()));
  BucketedSum::Schedules schedules;
  for (int64_t i = 0; i < request.buckets; ++i) schedules.push_back(request.make(options.rank));
  return std::make_unique<AllreduceSgd>(std::move(schedules), std::move(options));
}

int64_t MessagesOf(const AllreduceSchedule& schedule) {
  constexpr int64_t kEnough = int64_t{1} << 40;  // elements: no piece is empty
  int64_t messages = 0;
  for (int level = 0; level < schedule.levels(); ++level) {
    for (const ElementRange& range : schedule.Step(level, kEnough).sent) {
      messages += range.size() > 0 ? 1 : 0;
    }
  }
  return messages;
}

absl::StatusOr<double> Messages(const Spec& spec, const Topology& topology) {
  // Ranks that are looked at: all, or some that share no pattern with the powers of two.
  constexpr Rank kMaxRanks = 256, kStride = 7919;
  const Rank size = topology.size();
  ASSIGN_OR_RETURN(const Request request, Read(spec, size));
  const Rank seen = std::min(size, kMaxRanks);
  int64_t messages = 0;
  for (Rank i = 0; i < seen; ++i) {
    const int64_t rank = seen == size ? i : int64_t{i} * kStride % size;
    messages += MessagesOf(*request.make(static_cast<Rank>(rank)));
  }
  return static_cast<double>(request.buckets * messages) * size / seen;
}

// Small vectors have a place for every level of a tree; large ones two.
int64_t Memory(const Spec&, const Topology& topology) {
  return std::max<int64_t>(2, std::bit_width(static_cast<unsigned>(topology.size() - 1))) + 4;
}

std::string KindSpec(const std::string& kind) { return absl::StrCat("allreduce:", kind); }

std::vector<std::string> Examples() {
  std::vector<std::string> specs;
  for (const std::string& kind : AllreduceKinds()) specs.push_back(KindSpec(kind));
  specs.insert(specs.end(), {"allreduce:buckets=3", "allreduce:tree:buckets=2"});
  return specs;
}

// Whole, and beside the backward pass as a gossip's exchange is beside the gradient.
std::vector<std::string> Advised(Rank) {
  std::vector<std::string> specs;
  for (const std::string& kind : AllreduceKinds()) {
    specs.push_back(KindSpec(kind));
    specs.push_back(absl::StrCat(KindSpec(kind), ":buckets=4"));
  }
  return specs;
}

const Registration kAllreduce(
    Algorithms(),
    {.name = "allreduce",
     .options = "[:KIND][:buckets=B]",
     .help = absl::StrCat("gradients are summed over all nodes; KIND is ", AllreduceUsages(),
                          "; with buckets, while the gradient is computed"),
     .examples = Examples(),
     .centralized = true,
     .overlap = "allreduce with buckets while the backward pass goes on",
     .make = MakeAllreduce,
     .messages = Messages,
     .memory = Memory,
     .advised = Advised});

}  // namespace
}  // namespace grapevine
