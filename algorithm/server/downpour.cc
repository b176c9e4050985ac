// Asynchronous servers for accumulated updates, registered: DOWNPOUR and ADAG.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "algorithm/algorithm_kind.h"
#include "algorithm/server/accumulated_updates.h"
#include "algorithm/server/async_server.h"
#include "algorithm/server/async_worker.h"
#include "algorithm/server/shard_layout.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

constexpr char kAdag[] = "adag";

struct WindowSpec {
  ShardLayout shards;
  int64_t window;
  double part;  // of an update that is added
};

absl::StatusOr<WindowSpec> Parse(const Spec& spec, Rank nodes) {
  SpecReader reader(spec);
  const int64_t window = reader.Integer("window", 1, 1, 1'000'000);
  const int64_t servers = ShardLayout::ReadServers(reader);
  RETURN_IF_ERROR(reader.Finish());
  ASSIGN_OR_RETURN(const ShardLayout shards, ShardLayout::Make(spec, servers, nodes));
  return WindowSpec{.shards = shards,
                    .window = window,
                    .part = spec.name == kAdag ? 1.0 / static_cast<double>(window) : 1.0};
}

absl::StatusOr<std::unique_ptr<Algorithm>> Make(const Spec& spec, AlgorithmOptions options) {
  ASSIGN_OR_RETURN(const WindowSpec read, Parse(spec, options.mixing->topology().size()));
  const ShardLayout& shards = read.shards;
  if (shards.IsServer(options.rank)) {
    return std::make_unique<AsyncServer>(
        shards, options.rank, read.window, StalenessGate(shards.workers(), std::nullopt),
        std::make_unique<AddingServer>(read.part, shards.workers()));
  }
  return std::make_unique<AsyncWorker>(
      shards, options.rank, AsyncWorkerOptions{.window = read.window},
      std::make_unique<WindowPusher>(std::move(options.learning_rate)));
}

absl::StatusOr<Rank> Workers(const Spec& spec, Rank nodes) {
  ASSIGN_OR_RETURN(const WindowSpec read, Parse(spec, nodes));
  return read.shards.workers();
}

// But for the windows that the end of a run cuts short.
absl::StatusOr<double> Messages(const Spec& spec, const Topology& topology, const RunLength&) {
  ASSIGN_OR_RETURN(const WindowSpec read, Parse(spec, topology.size()));
  return 2.0 * read.shards.workers() * read.shards.servers() / static_cast<double>(read.window);
}

absl::StatusOr<int64_t> Memory(const Spec& spec, const Topology& topology, int64_t size,
                               int state_vectors) {
  ASSIGN_OR_RETURN(const WindowSpec read, Parse(spec, topology.size()));
  return std::max((WindowPusher::kVectors + state_vectors) * size,
                  AsyncServer::kVectors * read.shards.LargestShard(size));
}

AlgorithmKind Kind(std::string name, std::string help) {
  const std::string example = name + ":window=5";
  return {.name = std::move(name),
          .options = "[:window=H][:servers=S]",
          .help = std::move(help),
          .examples = {example, example + ":servers=2"},
          .centralized = true,
          .make = Make,
          .rounds = [](const Spec&) { return false; },
          .evaluated = [](const Spec&) { return EvaluatedModel::kServersWeights; },
          .workers = Workers,
          .messages = Messages,
          .memory = Memory};
}

const Registration kDownpour(
    Algorithms(), Kind("downpour",
                       "DOWNPOUR: workers give the sum of every H steps (1) to asynchronous "
                       "servers, the last S ranks, which add it"));
const Registration kAdagKind(
    Algorithms(), Kind(kAdag,
                       "ADAG: as downpour, but servers add the sum divided by H, which holds at "
                       "windows where that diverges"));

}  // namespace
}  // namespace grapevine
