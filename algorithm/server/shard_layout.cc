#include "algorithm/server/shard_layout.h"

#include <limits>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

std::string Count(int64_t number, const char* noun) {
  return absl::StrCat(number, " ", noun, number == 1 ? "" : "s");
}

}  // namespace

int64_t ShardLayout::ReadServers(SpecReader& reader) {
  return reader.Integer("servers", 1, 1, std::numeric_limits<Rank>::max());
}

absl::StatusOr<ShardLayout> ShardLayout::Make(const Spec& spec, int64_t servers, Rank nodes) {
  if (servers < nodes) {
    return ShardLayout(nodes - static_cast<Rank>(servers), static_cast<Rank>(servers));
  }
  std::string remedy = absl::StrCat("raise --nodes to at least ", servers + 1);
  if (nodes > 1) absl::StrAppend(&remedy, " or lower servers to at most ", nodes - 1);
  return SpecError(spec.text, absl::StrCat(Count(servers, "server"), " of ", Count(nodes, "node"),
                                           " leave no worker; --nodes counts both: ", remedy));
}

std::vector<Rank> ShardLayout::WorkerRanks() const {
  std::vector<Rank> ranks(workers_);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

std::vector<Rank> ShardLayout::ServerRanks() const {
  std::vector<Rank> ranks(servers_);
  std::iota(ranks.begin(), ranks.end(), workers_);
  return ranks;
}

std::vector<ReplicaRange> ShardLayout::Shards(int64_t size) const {
  std::vector<ReplicaRange> shards;
  for (Rank index = 0; index < servers_; ++index) shards.push_back(Shard(index, size));
  return shards;
}

}  // namespace grapevine
