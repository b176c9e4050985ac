// Which ranks are servers, and which range of the replica each keeps: what workers and servers
// must agree on.
//
// The last S of n nodes are servers, the others are workers, so that rank 0 is a worker. Server
// s keeps the elements [s M/S, (s+1) M/S) of a replica of M elements, parameters and buffers; M
// may be smaller than S.
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
  // That many servers among `nodes`. Errors name the spec and a number that works.
  static absl::StatusOr<ShardLayout> Make(const Spec& spec, int64_t servers, Rank nodes);

  Rank workers() const { return workers_; }
  Rank servers() const { return servers_; }
  bool IsServer(Rank rank) const { return rank >= workers_; }
  // The rank of server `index`, which counts from 0; and back.
  Rank ServerRank(Rank index) const { return workers_ + index; }
  Rank IndexOf(Rank server) const { return server - workers_; }
  // Ascending.
  std::vector<Rank> WorkerRanks() const;
  std::vector<Rank> ServerRanks() const;

  // The range that server `index` keeps of a replica of `size` elements.
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

// The elements of `vector`, which is as long as the replica, that lie in `range`.
inline Part Slice(Vec vector, ReplicaRange range) { return {vector, range.offset, range.size}; }

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_SHARD_LAYOUT_H_
