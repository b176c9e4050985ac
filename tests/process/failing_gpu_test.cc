// Runs whose GPUs fail: emulated ones, as a real one does not when it is asked to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/free_port.h"
#include "tests/process/grapevine_process.h"

namespace grapevine::testing {
namespace {

using ::testing::ContainsRegex;

// Three nodes of a ring, each a process with a GPU of its own.
class FailingGpu : public ::testing::Test {
 protected:
  // `fault` is in the environment of rank 1 alone.
  void Start(const std::map<std::string, std::string>& fault,
             const std::vector<std::string>& flags = {}) {
    const std::string port = std::to_string(FreePort());
    for (int rank = 0; rank < 3; ++rank) {
      GrapevineProcess::Options options{.program = "tests/process/grapevine_on_emulated_gpu"};
      if (rank == 1) options.environment = fault;
      std::vector<std::string> arguments = {"node",
                                            "--rank=" + std::to_string(rank),
                                            "--world-size=3",
                                            "--on-failure=end",
                                            "--master-addr=127.0.0.1",
                                            "--master-port=" + port,
                                            "--out=" + folder_.File("run"),
                                            "--device=cuda",
                                            "--model=mlp",
                                            "--data=synthetic:train=600:test=100",
                                            "--rounds=100000",
                                            "--eval-every=100000",
                                            "--peer-timeout=10s"};
      arguments.insert(arguments.end(), flags.begin(), flags.end());
      nodes_.push_back(std::make_unique<GrapevineProcess>(std::move(arguments), options));
    }
  }
  // Ends with this code and these words.
  void ExpectEnd(int rank, int exit_code, const std::string& words) {
    EXPECT_EQ(nodes_[rank]->Await(), exit_code) << nodes_[rank]->output();
    EXPECT_THAT(nodes_[rank]->output(), ContainsRegex(words));
  }

 private:
  const ScratchFolder folder_;
  std::vector<std::unique_ptr<GrapevineProcess>> nodes_;
};

TEST_F(FailingGpu, ANodeWithoutMemorySaysForWhatAndTheOthersHearOfIt) {
  // For the model that is evaluated and some vectors.
  Start({{"EMULATED_GPU_BYTES", "3000000"}});
  for (int rank : {1, 0, 2}) {
    ExpectEnd(rank, kDevice,
              "rank 1, round 0: no memory for .* \\(a vector of [0-9]+ elements\\) on cuda:0 "
              "\\(Emulated GPU\\)");
  }
}

TEST_F(FailingGpu, ANodeWithoutMemoryForItsModelDoesNotBegin) {
  Start({{"EMULATED_GPU_BYTES", "1000000"}}, {"--rendezvous-timeout=3s"});
  ExpectEnd(1, kDevice,
            "rank 1, before the first round: no memory for a model that is evaluated on cuda:0");
  ExpectEnd(0, kRendezvous, "rank 1 is missing");
  ExpectEnd(2, kRendezvous, "rank 1 is missing");
}

TEST_F(FailingGpu, ANodeWhoseGpuIsLostSaysWhenAndTheOthersHearOfIt) {
  Start({{"EMULATED_GPU_PIECES", "2000"}});
  for (int rank : {1, 0, 2}) {
    ExpectEnd(rank, kDevice, "rank 1, round [0-9]+: .*cudaErrorECCUncorrectable");
  }
}

TEST_F(FailingGpu, ALossThatIsNotANumberNamesTheTensor) {
  Start({}, {"--lr=1e30"});
  for (int rank : {0, 1, 2}) {
    ExpectEnd(rank, kDiverged, "the loss became (nan|inf) in round [0-9]+, and [a-z0-9.]+ of");
  }
}

}  // namespace
}  // namespace grapevine::testing
