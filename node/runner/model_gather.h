// The servers' weights at rank 0, without stopping the run.
//
// Each server sends its shard in chunks, to where it belongs in the whole; rank 0 holds the
// growing result, and no other node anything. Server s of S, the rank workers + s, has the
// elements [s M/S, (s+1) M/S) of the M (algorithm_kind.h, EvaluatedModel).
//
// Every server sends the bytes of its shard: those of one replica in all.
#ifndef GRAPEVINE_NODE_RUNNER_MODEL_GATHER_H_
#define GRAPEVINE_NODE_RUNNER_MODEL_GATHER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "kernels/vector/replica_layout.h"
#include "node/runner/model_assembly.h"
#include "node/transport/transport.h"

namespace grapevine {

class ModelGather final : public ModelAssembly {
 public:
  // The ranks from `workers` to below `nodes` are servers; `chunk_size` is in elements. The layout
  // and the transport outlive it.
  ModelGather(Rank rank, Rank workers, Rank nodes, const ReplicaLayout* layout,
              Transport* transport, int64_t chunk_size = int64_t{1} << 18);

  bool takes_part() const override { return rank_ == 0 || server(); }
  // Rank 0 may be a worker: its own model is not looked at.
  void Add(Due due) override { due_.push_back(std::move(due)); }
  absl::Status BeginDue() override;
  absl::Status OnReceived(const Received& message) override;
  absl::Status OnSent(Rank to, Tag tag) override;
  // Servers are not lost: the run would end with one.
  absl::Status OnLost(Rank from, Tag tag) override { return EndChunk(from, tag); }
  absl::Status OnUndelivered(Rank to, Tag tag) override { return EndChunk(to, tag); }
  std::optional<AveragedModel> TakeAverage() override;
  void ReleaseAverage() override { average_out_ = false; }
  std::vector<Round> TakeVoid() override { return {}; }
  bool average_out() const override { return average_out_; }
  bool idle() const override { return shards_.empty(); }
  bool behind() const override { return !due_.empty(); }
  std::vector<Waiting> waiting_for() const override;
  std::vector<Rank> Peers() const override;

 private:
  // A shard on its way: at its server, or at rank 0.
  struct Shard {
    SharedSlice slice;
    int64_t begun = 0;  // chunks that were sent, or posted for
    int64_t ended = 0;
  };
  bool server() const { return rank_ >= workers_; }
  int64_t chunks(const Shard& shard) const;
  SharedSlice ChunkOf(const Shard& shard, int64_t chunk) const;
  Tag ChunkTag(int64_t chunk) const;
  ReplicaRange RangeOf(Rank server) const;

  absl::Status Begin(Due due);
  // Sends, or posts for, as many chunks as may be in flight.
  absl::Status Continue(Rank peer, Shard& shard);
  absl::Status EndChunk(Rank peer, Tag tag);

  const Rank rank_;
  const Rank workers_;
  const Rank nodes_;
  const ReplicaLayout* const layout_;
  Transport* const transport_;
  const int64_t chunk_size_;

  std::deque<Due> due_;
  Round round_ = 0;
  VectorPool wholes_;             // freed memory would have to be faulted in again
  SharedVector whole_;            // rank 0's
  SharedVector own_;              // a server's shard
  std::map<Rank, Shard> shards_;  // under way, by the peer: rank 0, or a server
  std::optional<AveragedModel> average_;
  bool average_out_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_MODEL_GATHER_H_
