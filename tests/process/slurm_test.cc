// Nodes under Debian's Slurm, as `tools/slurm` sets it up on this machine: srun, sbatch, and a job
// that Slurm takes away and gives back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/model/scratch_folder.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/file_text.h"

namespace grapevine::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::chrono::seconds kSlurmPatience{180};
// A run of seconds, so that it can be taken away twice.
constexpr char kFlags[] = " --model=softmax --epochs=60 --log-every=1000 --checkpoint-every=100 ";

class Slurm : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* program : {"sbatch", "srun", "slurmctld", "slurmd", "munged"}) {
      const std::string look = "PATH=$PATH:/usr/sbin command -v " + std::string(program);
      if (std::system((look + " > /dev/null").c_str()) != 0) {
        GTEST_SKIP() << program << " is missing: tools/install_packages slurm_packages.txt";
      }
    }
    fs::create_directories(folder_.File("bin"));
    fs::create_symlink(fs::canonical("grapevine"), folder_.File("bin/grapevine"));
    folder_.Write("train.sh", FileText("deploy/slurm/train.sh"));
  }

  // What a user of that Slurm types in the test's folder.
  Ended Type(const std::string& commands) {
    GrapevineProcess slurm(
        {"run", "bash", "-euo", "pipefail", "-c", "cd " + folder_.path() + "\n" + commands},
        {.program = "tools/slurm",
         .environment = {{"PATH", folder_.File("bin") + ":/usr/sbin:/usr/bin:/sbin:/bin"}},
         .patience = kSlurmPatience});
    const int exit_code = slurm.Await();
    return {exit_code, slurm.output()};
  }

  std::string Model(const std::string& run) {
    return FileText(folder_.File(run + "/model.safetensors"));
  }

  const ScratchFolder folder_;
};

TEST_F(Slurm, SrunStartsTheNodes) {
  const Ended ended = Type("srun -n 4 grapevine node --model=softmax --epochs=1 --out=run");
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("rank 3 of 4 (SLURM_PROCID, SLURM_NTASKS)"));
  EXPECT_THAT(ended.output, HasSubstr("test accuracy of the averaged model"));
}

// Told to end by SIGTERM, the job has a checkpoint and queues again by itself; put back into the
// queue, it goes on from the last one. Slurm would wait two minutes each time.
constexpr char kTakenAwayTwice[] = R"(
is() { squeue --noheader --job=$job --format=%T | grep -q $1; }
wait_until() { until "$@"; do sleep 0.1; done; }
newest() { ls -t runs/$job/checkpoints 2>/dev/null | head -n 1; }
saved() { [ -e runs/$job/checkpoints/$(newest)/manifest.textproto ]; }
saved_more() { saved && [ $(newest) != $before ] && is RUNNING; }
start_again() { wait_until is PENDING; scontrol update JobId=$job StartTime=now; }
ended() { ! is 'PENDING\|RUNNING\|COMPLETING'; }

wait_until saved
scancel --signal=TERM $job
start_again
before=$(newest)
wait_until saved_more
scontrol requeue $job
start_again
wait_until ended
scontrol show job $job
cat job.out
mv runs/$job runs/taken
)";

TEST_F(Slurm, AJobThatIsTakenAwayTwiceEndsWithTheSameBits) {
  const Ended ended = Type("job=$(sbatch --parsable --output=job.out train.sh" +
                           std::string(kFlags) + ")" + kTakenAwayTwice);
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("JobState=COMPLETED"));
  EXPECT_THAT(ended.output, HasSubstr("Restarts=2"));
  EXPECT_THAT(ended.output, HasSubstr("told to end: queues again"));
  const Ended undisturbed =
      RunGrapevine({"train", "-n", "4", "--model=softmax", "--epochs=60", "--log-every=1000",
                    "--out=" + folder_.File("undisturbed")});
  ASSERT_EQ(undisturbed.exit_code, 0) << undisturbed.output;
  EXPECT_EQ(Model("runs/taken"), Model("undisturbed"));
}

}  // namespace
}  // namespace grapevine::testing
