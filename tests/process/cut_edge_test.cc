// An edge between two living nodes that is cut for a while.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

// On the ring of four, the neighbours of node 2 reach it through a relay, which breaks what they
// have and turns them away until each has tried often. Nobody else is affected, nor is its
// connection to rank 0.
TEST(CutEdge, CostsAPauseAndNothingElse) {
  const ScratchFolder folder;
  const std::vector<std::string> training = {
      "--model=softmax", "--data=synthetic:train=512:test=200", "--rounds=600", "--log-every=10"};
  const int port = FreePort(), cut_off = FreePort();
  TcpRelay relay(cut_off);
  std::vector<std::unique_ptr<GrapevineProcess>> nodes;
  for (int rank = 0; rank < kRing; ++rank) {
    std::vector<std::string> arguments = WithAll(
        {"node", "--rank=" + std::to_string(rank), "--world-size=4", "--master-addr=127.0.0.1",
         "--master-port=" + std::to_string(port), "--out=" + folder.File("cut")},
        training);
    if (rank == 2) {
      arguments = WithAll(arguments, {"--bind=127.0.0.1:" + std::to_string(cut_off),
                                      "--advertise=127.0.0.1:" + std::to_string(relay.port())});
    }
    nodes.push_back(std::make_unique<GrapevineProcess>(arguments));
  }
  ASSERT_TRUE(nodes[0]->AwaitOutput("round 20/600")) << nodes[0]->output();
  relay.Refuse(true);
  relay.Cut();
  constexpr int kOften = 8;
  EXPECT_TRUE(Eventually([&] { return relay.refused() >= kOften; }));
  relay.Refuse(false);
  for (const auto& node : nodes) EXPECT_EQ(node->Await(), 0) << node->output();
  EXPECT_GE(relay.connections(), 4) << "both neighbours, twice";

  const Ended whole = RunGrapevine(
      WithAll({"train", "-n", std::to_string(kRing), "--out=" + folder.File("whole")}, training));
  ASSERT_EQ(whole.exit_code, 0) << whole.output;
  const std::string model = FileText(folder.File("whole/model.safetensors"));
  ASSERT_FALSE(model.empty());
  EXPECT_TRUE(FileText(folder.File("cut/model.safetensors")) == model);
  for (int rank = 0; rank < kRing; ++rank) {
    const std::string own = "/node-" + std::to_string(rank) + "/model.safetensors";
    EXPECT_TRUE(FileText(folder.File("cut" + own)) == FileText(folder.File("whole" + own))) << rank;
  }
}

}  // namespace
}  // namespace grapevine::testing
