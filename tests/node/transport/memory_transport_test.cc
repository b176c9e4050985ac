#include "node/transport/memory_transport.h"

#include "gtest/gtest.h"
#include "tests/node/transport/transport_contract.h"

namespace grapevine {
namespace {

class MemoryNetwork : public TransportNetwork {
 public:
  explicit MemoryNetwork(int nodes) : TransportNetwork(nodes) {
    auto hub = std::make_shared<MemoryHub>(nodes);
    for (Rank rank = 0; rank < nodes; ++rank) {
      transports_.push_back(std::make_unique<MemoryTransport>(hub, rank, &sink(rank)));
    }
  }
  Transport& transport(Rank rank) override { return *transports_[rank]; }

 private:
  std::vector<std::unique_ptr<MemoryTransport>> transports_;
};

INSTANTIATE_TEST_SUITE_P(Memory, TransportContract,
                         ::testing::Values(TransportKind{
                             "memory",
                             [](int nodes) { return std::make_unique<MemoryNetwork>(nodes); }}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace grapevine
