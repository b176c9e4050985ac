// Who is a parameter server, which range of the replica it keeps, and how its
// messages are named: what workers and servers must agree on.
//
// Of n nodes the last S are servers, the others are workers, so that rank 0 is
// a worker. Server s keeps the elements [s M/S, (s+1) M/S) of a replica of M
// elements, parameters and buffers: any M does, also one smaller than S.
#ifndef GRAPEVINE_ALGORITHM_SERVER_PARAMETER_SERVERS_H_
#define GRAPEVINE_ALGORITHM_SERVER_PARAMETER_SERVERS_H_

#include "absl/status/statusor.h"
#include "algorithm/event.h"
#include "base/ids.h"
#include "base/spec.h"
#include "kernels/vector/vector_handle.h"

namespace grapevine {

// A value: safe from any thread.
class ParameterServers {
 public:
  // "ps:servers=S" (1 is the default) among `nodes`. Errors name the spec and the
  // number that would do.
  static absl::StatusOr<ParameterServers> Parse(const Spec& spec, Rank nodes);

  Rank workers() const { return workers_; }
  Rank servers() const { return servers_; }
  bool IsServer(Rank rank) const { return rank >= workers_; }
  // The rank of server `index`, which counts from 0.
  Rank ServerRank(Rank index) const { return workers_ + index; }
  // What server `index` keeps of a replica of `size` elements.
  ReplicaRange Shard(Rank index, int64_t size) const {
    const int64_t begin = size * index / servers_;
    return {begin, size * (index + 1) / servers_ - begin};
  }

  // A worker's gradient of a round, to a server; the weights after it, back.
  static Tag GradientTag(Round round) { return {kChannel, round, 0}; }
  static Tag WeightsTag(Round round) { return {kChannel, round, 1}; }

 private:
  static constexpr uint16_t kChannel = 0;

  ParameterServers(Rank workers, Rank servers) : workers_(workers), servers_(servers) {}

  Rank workers_;
  Rank servers_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_PARAMETER_SERVERS_H_
