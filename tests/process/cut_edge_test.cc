// A connection between two living nodes that is cut for a while: an edge, or one to rank 0.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/free_port.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/file_text.h"
#include "tests/testing/tcp_relay.h"

namespace grapevine::testing {
namespace {

constexpr int kRing = 4;

std::vector<std::string> WithAll(std::vector<std::string> flags,
                                 const std::vector<std::string>& more) {
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

// A run of four processes on a ring, one of which has more flags; and the same without a fault.
class CutRun : public ::testing::Test {
 protected:
  std::vector<std::string> Training() const {
    return {"--model=softmax", "--data=synthetic:train=512:test=200", "--rounds=600",
            "--log-every=10"};
  }

  // Node 2 has these flags instead of others'.
  void Start(int port, const std::vector<std::string>& of_two) {
    for (int rank = 0; rank < kRing; ++rank) {
      std::vector<std::string> arguments =
          WithAll({"node", "--rank=" + std::to_string(rank), "--world-size=4",
                   "--master-addr=127.0.0.1", "--out=" + folder_.File("cut")},
                  Training());
      const std::vector<std::string> usual = {"--master-port=" + std::to_string(port)};
      nodes_.push_back(
          std::make_unique<GrapevineProcess>(WithAll(arguments, rank == 2 ? of_two : usual)));
    }
  }

  // Breaks what goes through the relay, and turns it away until it has tried often.
  void Cut(TcpRelay& relay) {
    ASSERT_TRUE(nodes_[0]->AwaitOutput("round 20/600")) << nodes_[0]->output();
    relay.Refuse(true);
    relay.Cut();
    EXPECT_TRUE(Eventually([&] { return relay.refused() >= kOften; }));
    relay.Refuse(false);
  }

  void ExpectTheModelsOfARunWithoutFaults() {
    for (const auto& node : nodes_) EXPECT_EQ(node->Await(), 0) << node->output();
    const Ended whole = RunGrapevine(WithAll(
        {"train", "-n", std::to_string(kRing), "--out=" + folder_.File("whole")}, Training()));
    ASSERT_EQ(whole.exit_code, 0) << whole.output;
    const std::string model = FileText(folder_.File("whole/model.safetensors"));
    ASSERT_FALSE(model.empty());
    EXPECT_TRUE(FileText(folder_.File("cut/model.safetensors")) == model);
    for (int rank = 0; rank < kRing; ++rank) {
      const std::string own = "/node-" + std::to_string(rank) + "/model.safetensors";
      EXPECT_TRUE(FileText(folder_.File("cut" + own)) == FileText(folder_.File("whole" + own)))
          << rank;
    }
  }

  int64_t Measurements(const std::string& run) const {
    return std::ranges::count(FileText(folder_.File(run + "/metrics.jsonl")), '\n');
  }

  static constexpr int kOften = 8;
  const ScratchFolder folder_;
  std::vector<std::unique_ptr<GrapevineProcess>> nodes_;
};

using CutEdge = CutRun;
using CutControl = CutRun;

// The neighbours of node 2 reach it through a relay. Nobody else is affected, nor is its connection
// to rank 0.
TEST_F(CutEdge, CostsAPauseAndNothingElse) {
  const int port = FreePort(), cut_off = FreePort();
  TcpRelay relay(cut_off);
  Start(port,
        {"--master-port=" + std::to_string(port), "--bind=127.0.0.1:" + std::to_string(cut_off),
         "--advertise=127.0.0.1:" + std::to_string(relay.port())});
  Cut(relay);
  ExpectTheModelsOfARunWithoutFaults();
  EXPECT_GE(relay.connections(), 4) << "both neighbours, twice";
}

// Node 2 reaches rank 0 through a relay; all edges stay. Nothing that is measured is lost.
TEST_F(CutControl, CostsAPauseAndNothingElse) {
  const int port = FreePort();
  TcpRelay relay(port);
  Start(port, {"--master-port=" + std::to_string(relay.port())});
  Cut(relay);
  ExpectTheModelsOfARunWithoutFaults();
  EXPECT_GE(relay.connections(), 2);
  EXPECT_EQ(Measurements("cut"), Measurements("whole"));
  EXPECT_THAT(nodes_[0]->output(), ::testing::HasSubstr("rank 2 is connected again"));
}

}  // namespace
}  // namespace grapevine::testing
