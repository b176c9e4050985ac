// A transport that takes messages and delivers none: what becomes of them, the test says.
#ifndef GRAPEVINE_TESTS_NODE_RUNNER_SILENT_TRANSPORT_H_
#define GRAPEVINE_TESTS_NODE_RUNNER_SILENT_TRANSPORT_H_

#include <span>

#include "node/transport/transport.h"

namespace grapevine::testing {

class SilentTransport final : public Transport {
 public:
  void Dial(std::span<const Rank>) override {}
  absl::Status Send(Rank, Tag, Outgoing) override {
    ++sent;
    return absl::OkStatus();
  }
  absl::Status Post(Rank, Tag, Incoming) override { return absl::OkStatus(); }
  absl::Status Decline(Rank, Tag) override { return absl::OkStatus(); }
  absl::Status Withdraw(Rank, Tag) override { return absl::OkStatus(); }
  void GiveUp(Rank, const absl::Status&) override {}
  TransportCounters counters() const override { return {}; }
  void Shutdown() override {}

  int sent = 0;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_RUNNER_SILENT_TRANSPORT_H_
