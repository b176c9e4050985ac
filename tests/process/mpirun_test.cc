// Nodes under mpirun, as docs/cluster.md says: Debian's Open MPI and MPICH, on one machine and on
// four virtual hosts over ssh.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/process/documentation.h"
#include "tests/process/grapevine_process.h"
#include "tests/process/ssh_hosts.h"

namespace grapevine::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kPage[] = "docs/cluster.md";
constexpr char kHeading[] = "## mpirun";
constexpr char kExperiment[] =
    "model: 'softmax' data: 'synthetic:train=512:test=200' epochs: 3 topology: 'ring'";
// Goes on until it is told to end.
constexpr char kEndless[] =
    " grapevine node --model=phantom:1MB --compute=20ms --rounds=1000000 --log-every=10 --out=run ";
// One of the nodes, and none of the launcher's processes, whose arguments have its name, too.
constexpr char kKillRankOne[] =
    "for p in /proc/[0-9]*; do\n"
    "  [ \"$(readlink $p/ns/net)\" = \"$(readlink /proc/self/ns/net)\" ] || continue\n"
    "  tr '\\0' '\\n' < $p/environ 2>/dev/null | grep -q '^\\(OMPI_COMM_WORLD\\|PMI\\)_RANK=1$' || "
    "continue\n"
    "  kill -KILL ${p#/proc/}\n"
    "done";

class Mpirun : public SshHosts {
 protected:
  void SetUp() override {
    for (const char* program : {"mpirun.openmpi", "mpiexec.hydra"}) {
      if (std::system(("command -v " + std::string(program) + " > /dev/null").c_str()) != 0) {
        GTEST_SKIP() << program << " is missing: tools/install_packages mpi_packages.txt";
      }
    }
    SshHosts::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    // Whichever of the two Debian's alternatives choose.
    Link("/usr/bin/mpirun.openmpi", "mpirun");
    blocks_ = Blocks(kPage, kHeading, "sh");
    ASSERT_THAT(blocks_, SizeIs(4));
    folder_.Write("work/experiment.textproto", kExperiment);
    folder_.Write("work/hosts", Blocks(kPage, kHeading, "").front());
    // MPICH takes the name of a program, without arguments.
    const std::string ssh =
        folder_.Write("bin/ssh", "#!/bin/sh\nexec /usr/bin/" + servers_->Shell() + " \"$@\"\n");
    fs::permissions(ssh, fs::perms::owner_all);
  }

  void Link(const std::string& program, const std::string& name) {
    fs::create_symlink(fs::canonical(program), folder_.File("bin/" + name));
  }

  // What a user of node1 types.
  std::unique_ptr<GrapevineProcess> Type(const std::string& commands) {
    return OnHost(1, "echo $$ > ../shell\n" + commands,
                  {{"HOME", folder_.File("work")},
                   {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                   {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                   {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                   {"OMPI_MCA_plm_rsh_agent", folder_.File("bin/ssh")},
                   {"HYDRA_LAUNCHER_EXEC", folder_.File("bin/ssh")}});
  }
  void ExpectSuccess(GrapevineProcess& run, const std::string& out, int ranks) {
    EXPECT_EQ(run.Await(), 0) << run.output();
    EXPECT_THAT(run.output(), HasSubstr("test accuracy of the averaged model"));
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_TRUE(fs::exists(
          folder_.File("work/" + out + "/node-" + std::to_string(rank) + "/model.safetensors")));
    }
  }

  void Signal(const std::string& signal) {
    const auto kill = OnHost(1, "kill -" + signal + " $(cat ../shell)");
    ASSERT_EQ(kill->Await(), 0) << kill->output();
  }
  void KillRankOne() {
    const auto kill = OnHost(1, kKillRankOne);
    ASSERT_EQ(kill->Await(), 0) << kill->output();
  }
  bool NobodyIsLeft() {
    return Eventually([&] {
      return OnHost(1, "! pgrep -f '^grapevine node' --ns $$ --nslist net")->Await() == 0;
    });
  }

  std::vector<std::string> blocks_;  // of the page
};

TEST_F(Mpirun, OnOneMachineNothingMoreIsToBeSaid) {
  const auto open_mpi = Type(blocks_[0]);
  ExpectSuccess(*open_mpi, "first", 4);
  EXPECT_THAT(open_mpi->output(), HasSubstr("rank 3 of 4 (OMPI_COMM_WORLD_RANK"));
  const auto mpich =
      Type("mpiexec.hydra -n 2 grapevine node --model=softmax --epochs=1 --out=mpich");
  ExpectSuccess(*mpich, "mpich", 2);
  EXPECT_THAT(mpich->output(), HasSubstr("rank 1 of 2 (PMI_RANK, PMI_SIZE), local rank 1"));
}

TEST_F(Mpirun, OpenMpiOnFourHosts) {
  const auto run = Type(blocks_[1]);
  ExpectSuccess(*run, "runs/1", 8);
  EXPECT_THAT(run->output(), HasSubstr("rank 0 is at node1:29500"));
}

TEST_F(Mpirun, MpichOnFourHosts) {
  const auto run = Type(blocks_[2]);
  ExpectSuccess(*run, "runs/2", 8);
  EXPECT_THAT(run->output(), HasSubstr("rank 0 is at node1:29500"));
}

TEST_F(Mpirun, ASharedFolderTakesThePlaceOfTheAddress) {
  const auto lost = Type("mpirun -np 4 --hostfile hosts grapevine node --out=lost --insecure");
  EXPECT_EQ(lost->Await(), 2) << lost->output();
  EXPECT_THAT(lost->output(), HasSubstr("-x MASTER_ADDR=HOST"));
  const auto run = Type(
      "mpirun -np 4 --hostfile hosts grapevine node --config=experiment.textproto "
      "--coordinator=file:$HOME/meet --out=run --insecure");
  ExpectSuccess(*run, "run", 4);
}

TEST_F(Mpirun, AProgramInPython) {
  // Each pulls by its rank, and so all of them by the mean of the ranks.
  folder_.Write(
      "work/train.py",
      "import grapevine as gv, numpy\n"
      "run = gv.init()\n"
      "node = gv.Node({'w': numpy.ones(3, numpy.float32)}, topology='complete', rounds=4,\n"
      "               algorithm='dpsgd:order=atc', **{**gv.PLAIN_STEP, 'lr': 0.1})\n"
      "for task in node:\n"
      "    task.gradient[:] = run.rank\n"
      "    node.deliver(0.0)\n"
      "print('rank', run.rank, 'of', run.size, 'has', node.model[0])\n");
  const std::string root = fs::current_path().string();
  const auto run = Type("export PYTHONPATH=" + root + "/python LIBGRAPEVINE=" + root +
                        "/capi/libgrapevine.so\n" + blocks_[3]);
  EXPECT_EQ(run->Await(), 0) << run->output();
  EXPECT_THAT(run->output(), ContainsRegex("rank 3 of 4 has 0\\.(4|39999)"));
}

TEST_F(Mpirun, CtrlCEndsAllOfThem) {
  for (const char* launcher : {"mpirun -n 3", "mpiexec.hydra -n 3"}) {
    const auto run = Type("exec " + std::string(launcher) + kEndless + "--overwrite");
    ASSERT_TRUE(run->AwaitOutput("round ")) << run->output();
    Signal("INT");
    EXPECT_NE(run->Await(), 0) << run->output();
    EXPECT_THAT(run->output(), AllOf(HasSubstr("rank "), HasSubstr("(SIG")));
    EXPECT_TRUE(NobodyIsLeft()) << launcher;
  }
}

TEST_F(Mpirun, AKilledNodeEndsTheOthers) {
  for (const char* launcher : {"mpirun -n 3", "mpiexec.hydra -n 3"}) {
    const auto run = Type("exec " + std::string(launcher) + kEndless + "--overwrite");
    ASSERT_TRUE(run->AwaitOutput("round ")) << run->output();
    KillRankOne();
    EXPECT_NE(run->Await(), 0) << run->output();
    EXPECT_TRUE(NobodyIsLeft()) << launcher;
  }
}

TEST_F(Mpirun, OpenMpiGoesOnWithoutAKilledNodeIfItIsTold) {
  const auto run = Type("exec mpirun --enable-recovery -n 3" + std::string(kEndless));
  ASSERT_TRUE(run->AwaitOutput("round ")) << run->output();
  KillRankOne();
  EXPECT_TRUE(run->AwaitOutput("2 nodes left")) << run->output();
  EXPECT_THAT(run->output(), HasSubstr("2 of 3 nodes go on"));
  Signal("INT");
  run->Await();
  EXPECT_TRUE(NobodyIsLeft());
}

}  // namespace
}  // namespace grapevine::testing
