// A round of gossip on a ring without training: each of n processes exchanges
// 100 MB with both neighbours over the gRPC transport (checksums on, TLS off)
// and averages, against MPI_Neighbor_allgather over TCP and averaging. The two
// take turns; medians and the ratio of times are printed.
//
//   bazel run //bench:ring_exchange_bench [-- REPETITIONS]     (needs openmpi)
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bench/peers/peer_process.h"
#include "bench/workers.h"
#include "kernels/passes/mix_and_step.h"
#include "kernels/vector/shared_vector.h"

namespace grapevine {
namespace {

constexpr int64_t kElements = 25'000'000;

SharedSlice Filled(float value) {
  SharedVector vector = NewSharedVector(kElements);
  for (float& element : vector.span()) element = value;
  return {vector.data, 0, vector.size};
}

class RingNode {
 public:
  RingNode(int self, int nodes, Channel& channel)
      : neighbours_{(self + nodes - 1) % nodes, (self + 1) % nodes},
        node_(self, nodes),
        own_{Filled(0), Filled(static_cast<float>(self))} {
    channel.Write(node_.address());
    node_.Join(channel.Read());
  }

  void Round() {
    const Tag tag{.index = ++round_};
    const SharedSlice& own = own_[round_ % 2];
    for (int i : {0, 1}) (void)node_.transport().Post(neighbours_[i], tag, received_[i]);
    for (int i : {0, 1}) (void)node_.transport().Send(neighbours_[i], tag, own);
    // What is averaged goes to a vector of its own, as in D-PSGD: the one that was sent in the
    // round before, and received since.
    node_.Await(2, round_ > 1 ? 2 : 0, 2);
    const float third = 1.0f / 3;
    const WeightedVector terms[] = {
        {third, own.begin()}, {third, received_[0].begin()}, {third, received_[1].begin()}};
    WeightedSum(terms, kElements, own_[(round_ + 1) % 2].begin());
  }

 private:
  const Rank neighbours_[2];
  BenchNode node_;
  const SharedSlice own_[2];
  const SharedSlice received_[2] = {Filled(0), Filled(0)};
  grapevine::Round round_ = 0;
};

std::vector<std::string> MpiCommand(const std::string& program, int nodes) {
  return {"mpirun",
          "--allow-run-as-root",
          "--oversubscribe",
          "--mca",
          "btl",
          "tcp,self",
          "--mca",
          "pml",
          "ob1",
          "--mca",
          "mpi_yield_when_idle",
          "1",
          "-np",
          std::to_string(nodes),
          program,
          std::to_string(kElements)};
}

void Compare(int nodes, int repetitions, const std::string& program) {
  Workers workers(nodes, [nodes](int self, Channel& channel) {
    RingNode node(self, nodes, channel);
    Serve(channel, [&node](const std::string&) { node.Round(); });
  });
  workers.WriteAll(absl::StrJoin(workers.ReadAll(), " "));
  PeerProcess mpi(MpiCommand(program, nodes));
  Costs ours;
  Costs theirs;
  for (int repetition = -1; repetition < repetitions; ++repetition) {
    const std::optional<double> seconds = mpi.Ask("round");
    const Workers::Cost cost = workers.Measure("round");
    if (!seconds.has_value()) {
      std::printf("mpirun did not answer; apt-get install openmpi-bin libopenmpi-dev\n");
      return;
    }
    if (repetition < 0) continue;
    ours.Add(cost);
    theirs.Add({.seconds = *seconds, .cpu_seconds = 0});
  }
  std::printf("n=%d  OpenMPI %6.1f ms  grpc %6.1f ms (%.2f CPU s)  %.2f x OpenMPI's time\n", nodes,
              1e3 * theirs.seconds(), 1e3 * ours.seconds(), ours.cpu_seconds(),
              ours.seconds() / theirs.seconds());
}

}  // namespace
}  // namespace grapevine

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 11;
  const std::string program = argc > 2 ? argv[2] : "bench/peers/mpi_ring";
  for (const int nodes : {4, 8}) grapevine::Compare(nodes, repetitions, program);
  return 0;
}
