#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "algorithm/allreduce_registry.h"
#include "algorithm/allreduce_schedule.h"
#include "algorithm/allreduce_sgd.h"
#include "algorithm/bucketed_sum.h"
#include "algorithm/dpsgd.h"
#include "algorithm/parameter_servers.h"
#include "algorithm/ps_server.h"
#include "algorithm/ps_worker.h"
#include "base/spec.h"

namespace grapevine {
namespace {

// Each posts up to Collective::kMaxAhead messages ahead, and a transport has a
// bound for those of one peer.
constexpr int64_t kMaxBuckets = 32;

absl::StatusOr<std::unique_ptr<Algorithm>> MakeDpsgd(const Spec& spec, AlgorithmOptions options) {
  SpecReader reader(spec);
  const std::string order = reader.Choice("order", {"awc", "atc"});
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  return std::make_unique<Dpsgd>(order == "atc" ? DpsgdOrder::kAtc : DpsgdOrder::kAwc,
                                 std::move(options));
}

absl::StatusOr<std::unique_ptr<Algorithm>> MakeAllreduce(const Spec& spec,
                                                         AlgorithmOptions options) {
  SpecReader reader(spec);
  const absl::StatusOr<AllreduceFactory> make =
      ReadAllreduce(spec, reader, options.mixing->topology().size());
  if (!make.ok()) return make.status();
  const int64_t buckets = reader.Integer("buckets", 1, 1, kMaxBuckets);
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  BucketedSum::Schedules schedules;
  for (int64_t i = 0; i < buckets; ++i) schedules.push_back((*make)(options.rank));
  return std::make_unique<AllreduceSgd>(std::move(schedules), std::move(options));
}

absl::StatusOr<std::unique_ptr<Algorithm>> MakeParameterServer(const Spec& spec,
                                                               AlgorithmOptions options) {
  absl::StatusOr<ParameterServers> servers =
      ParameterServers::Parse(spec, options.mixing->topology().size());
  if (!servers.ok()) return servers.status();
  if (servers->IsServer(options.rank)) {
    return std::make_unique<PsServer>(*servers, std::move(options));
  }
  return std::make_unique<PsWorker>(*servers, std::move(options));
}

double NeighbourMessages(const Topology& topology) {
  double messages = 0;
  for (Rank rank = 0; rank < topology.size(); ++rank) messages += topology.Degree(rank, 0);
  return messages;
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

absl::StatusOr<double> AllreduceMessages(const Spec& spec, Rank size) {
  // Ranks that are looked at: all, or some that share no pattern with the powers of two.
  constexpr Rank kMostRanks = 256, kStride = 7919;
  SpecReader reader(spec);
  const absl::StatusOr<AllreduceFactory> make = ReadAllreduce(spec, reader, size);
  if (!make.ok()) return make.status();
  const int64_t buckets = reader.Integer("buckets", 1, 1, kMaxBuckets);
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  const Rank seen = std::min(size, kMostRanks);
  int64_t messages = 0;
  for (Rank i = 0; i < seen; ++i) {
    const int64_t rank = seen == size ? i : int64_t{i} * kStride % size;
    messages += MessagesOf(*(*make)(static_cast<Rank>(rank)));
  }
  return static_cast<double>(buckets * messages) * size / seen;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Algorithm>> MakeAlgorithm(std::string_view text,
                                                         AlgorithmOptions options) {
  absl::StatusOr<Spec> spec = ParseSpec(text);
  if (!spec.ok()) return spec.status();
  if (spec->name == "dpsgd") return MakeDpsgd(*spec, std::move(options));
  if (spec->name == "allreduce") return MakeAllreduce(*spec, std::move(options));
  if (spec->name == "ps") return MakeParameterServer(*spec, std::move(options));
  return SpecError(
      text, "unknown algorithm; known: dpsgd, dpsgd:order=atc, allreduce:KIND, ps:servers=1");
}

absl::StatusOr<Rank> WorkerCount(std::string_view text, Rank nodes) {
  absl::StatusOr<Spec> spec = ParseSpec(text);
  if (!spec.ok()) return spec.status();
  if (spec->name != "ps") return nodes;
  absl::StatusOr<ParameterServers> servers = ParameterServers::Parse(*spec, nodes);
  if (!servers.ok()) return servers.status();
  return servers->workers();
}

absl::StatusOr<double> MessagesPerRound(std::string_view text, const Topology& topology) {
  const absl::StatusOr<Spec> spec = ParseSpec(text);
  if (!spec.ok()) return spec.status();
  if (spec->name == "allreduce") return AllreduceMessages(*spec, topology.size());
  if (spec->name != "ps") return NeighbourMessages(topology);
  const absl::StatusOr<ParameterServers> servers = ParameterServers::Parse(*spec, topology.size());
  if (!servers.ok()) return servers.status();
  return 2.0 * servers->workers() * servers->servers();
}

}  // namespace grapevine
