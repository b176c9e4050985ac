#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "algorithm/allreduce_registry.h"
#include "algorithm/allreduce_sgd.h"
#include "algorithm/bucketed_sum.h"
#include "algorithm/dpsgd.h"
#include "algorithm/parameter_servers.h"
#include "algorithm/ps_server.h"
#include "algorithm/ps_worker.h"
#include "topology/spec.h"

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

}  // namespace grapevine
