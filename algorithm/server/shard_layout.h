// What workers and servers must agree on: which ranks are servers, and which range of the replica
// each server keeps.
//
// The last S of n nodes are servers and the others are workers, so that rank 0 is a worker. Server
// s keeps the elements [s M/S, (s+1) M/S) of a replica of M elements, parameters and buffers; M may
// be smaller than S.
//
// A value: safe from any thread.
#ifndef GRAPEVINE_ALGORITHM_SERVER_SHARD_LAYOUT_H_
#define GRAPEVINE_ALGORITHM_SERVER_SHARD_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/spec.h"
#include "kernels/vector/vector_handle.h"

namespace grapevine {

class ShardLayout {
 public:
  // Reads "servers=S" (1 is the default) of a spec.
  static int64_t ReadServers(SpecReader& reader);
  // Makes the layout of `servers` servers among `nodes`. Errors name the spec and a number that
  // works.
  static absl::StatusOr<ShardLayout> Make(const Spec& spec, int64_t servers, Rank nodes);

  Rank workers() const { return workers_; }
  Rank servers() const { return servers_; }
  bool IsServer(Rank rank) const { return rank >= workers_; }
  // ServerRank returns the rank of server `index`, counted from 0; IndexOf is its inverse.
  Rank ServerRank(Rank index) const { return workers_ + index; }
  Rank IndexOf(Rank server) const { return server - workers_; }
  // These return ranks in ascending order.
  std::vector<Rank> WorkerRanks() const;
  std::vector<Rank> ServerRanks() const;

  // Returns the range that server `index` keeps of a replica of `size` elements.
  ReplicaRange Shard(Rank index, int64_t size) const {
    const int64_t begin = size * index / servers_;
    return {begin, size * (index + 1) / servers_ - begin};
  }
  std::vector<ReplicaRange> Shards(int64_t size) const;
  int64_t LargestShard(int64_t size) const { return (size + servers_ - 1) / servers_; }

 private:
  ShardLayout(Rank workers, Rank servers) : workers_(workers), servers_(servers) {}

  Rank workers_;
  Rank servers_;
};

// Returns the elements of `vector` that lie in `range`; `vector` is as long as the replica.
inline Part Slice(Vec vector, ReplicaRange range) { return {vector, range.offset, range.size}; }

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_SHARD_LAYOUT_H_
