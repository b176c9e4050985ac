// Every command of docs/cluster.md, on hosts with names and addresses of their
// own. Files that differ from host to host are in a folder for each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/node/store/etcd_server.h"
#include "tests/process/documentation.h"
#include "tests/process/exit_codes.h"
#include "tests/process/grapevine_process.h"
#include "tests/process/virtual_hosts.h"
#include "tests/testing/file_text.h"

namespace grapevine::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

using Variables = std::map<std::string, std::string>;

constexpr int kHosts = 4;
constexpr char kPage[] = "docs/cluster.md";

// The experiment of the page, but small.
const Variables kSmall = {{"GRAPEVINE_MODEL", "softmax"},
                          {"GRAPEVINE_DATA", "synthetic:train=512:test=200"},
                          {"GRAPEVINE_EPOCHS", "0.5"}};

std::string Block(const std::string& heading, const std::string& language, size_t index = 0) {
  const std::vector<std::string> blocks = Blocks(kPage, heading, language);
  return index < blocks.size() ? blocks[index] : "there is no such block";
}

bool Installed(const std::string& program) {
  return std::system(("PATH=$PATH:/usr/sbin command -v " + program + " > /dev/null").c_str()) == 0;
}

class Hosts : public ::testing::Test {
 protected:
  void SetUp() override {
    network_.emplace(folder_.path(), kHosts);
    if (!network_->up()) GTEST_SKIP() << "network namespaces are missing: " << network_->output();
    fs::create_directories(folder_.File("bin"));
    fs::create_symlink(fs::canonical("grapevine"), folder_.File("bin/grapevine"));
    for (int host = 1; host <= kHosts; ++host) Provide("node" + std::to_string(host));
    Provide("shared");
  }

  // A folder with what the page says is in it.
  void Provide(const std::string& name) {
    fs::create_directories(folder_.File(name));
    folder_.Write(name + "/experiment.textproto", Block("## By hand", "textproto"));
    folder_.Write(name + "/hosts", Block("## Host files", ""));
  }

  // As told, by openssl, and copied to every host's folder `to`.
  void MakeSecrets(const std::string& heading, const std::string& to,
                   const std::vector<std::string>& files) {
    if (!Installed("openssl")) GTEST_SKIP() << "openssl is missing";
    const std::string by = folder_.File("authority");
    fs::create_directories(by);
    GrapevineProcess openssl({"-euc", "cd " + by + "\n" + Block(heading, "sh", 0)},
                             {.program = "/bin/sh"});
    ASSERT_EQ(openssl.Await(), 0) << openssl.output();
    for (const char* place : {"node1", "node2", "node3", "node4", "shared"}) {
      const fs::path folder = fs::path(folder_.File(place)) / to;
      fs::create_directories(folder);
      for (const std::string& file : files) fs::copy(by + "/" + file, folder);
    }
  }
  void MakeToken() { MakeSecrets("## Who may join: the token", "", {"run.token"}); }
  void MakeCertificates() { MakeSecrets("## TLS", "tls", {"ca.pem", "node.pem", "node.key"}); }

  // Starts what a user of node<host> types in the folder `place`.
  void Start(int host, const std::string& place, const std::string& command,
             Variables variables = {}) {
    variables.insert(kSmall.begin(), kSmall.end());
    variables["HOME"] = folder_.File("shared");
    variables["PATH"] = folder_.File("bin") + ":/usr/sbin:/usr/bin:/sbin:/bin";
    processes_.push_back(std::make_unique<GrapevineProcess>(
        network_->On(host, "cd " + folder_.File(place) + "\n" + command),
        GrapevineProcess::Options{
            .program = VirtualHosts::kProgram, .environment = variables, .patience = patience_}));
  }

  // The commands of a block of the page, each on its host.
  void StartAll(const std::string& block, const std::string& security) {
    const std::vector<HostCommand> commands = Commands(block);
    ASSERT_THAT(commands, SizeIs(kHosts));
    for (const HostCommand& command : commands) {
      Start(command.host.back() - '0', command.host, security + "\n" + command.command);
    }
  }

  void ExpectSuccess() {
    for (const auto& process : processes_) EXPECT_EQ(process->Await(), 0) << process->output();
    processes_.clear();
  }

  // What four hosts without a common file system have afterwards.
  void ExpectFilesOfEachHost() const {
    EXPECT_TRUE(fs::exists(folder_.File("node1/run/summary.json")));
    for (int host = 1; host <= kHosts; ++host) {
      const std::string name = std::to_string(host);
      EXPECT_TRUE(fs::exists(folder_.File("node" + name + "/run/node-" + std::to_string(host - 1) +
                                          "/model.safetensors")));
    }
  }

  void ExpectRuns(const std::string& block, const std::string& security) {
    ASSERT_NO_FATAL_FAILURE(StartAll(block, security));
    ExpectSuccess();
    ExpectFilesOfEachHost();
  }

  const ScratchFolder folder_;
  std::optional<VirtualHosts> network_;
  std::vector<std::unique_ptr<GrapevineProcess>> processes_;  // go first
  std::chrono::seconds patience_ = kPatience;
};

constexpr char kInsecure[] = "SECURITY=--insecure";

TEST_F(Hosts, ByHand) { ExpectRuns(Block("## By hand", "sh", 0), kInsecure); }
TEST_F(Hosts, ByVariables) { ExpectRuns(Block("## By hand", "sh", 1), kInsecure); }
TEST_F(Hosts, ByHostFile) { ExpectRuns(Block("## Host files", "sh"), kInsecure); }

// Each host's own name leads to itself, as to every pod of a headless service.
TEST_F(Hosts, ByDns) {
  for (int host = 1; host <= kHosts; ++host) {
    std::ofstream names(folder_.File("hosts." + std::to_string(host)), std::ios::app);
    for (int other = 1; other <= kHosts; ++other) names << "10.0.0." << other << " trainers\n";
  }
  ExpectRuns(Block("## Finding rank 0", "sh", 0), kInsecure);
}

TEST_F(Hosts, InAFolder) { ExpectRuns(Block("## Finding rank 0", "sh", 1), kInsecure); }

TEST_F(Hosts, InEtcd) {
  const std::string etcd = EtcdServer::Program();
  if (etcd.empty()) GTEST_SKIP() << EtcdServer::kMissing;
  const GrapevineProcess server(network_->On(1, etcd + " --data-dir=" + folder_.File("etcd") +
                                                    " --listen-client-urls=http://0.0.0.0:2379"
                                                    " --advertise-client-urls=http://node1:2379"
                                                    " --logger=zap --log-level=error"),
                                {.program = VirtualHosts::kProgram});
  ExpectRuns(Block("## Finding rank 0", "sh", 2), kInsecure);
}

TEST_F(Hosts, WithAToken) {
  MakeToken();
  if (IsSkipped() || HasFatalFailure()) return;
  ExpectRuns(Block("## By hand", "sh", 0), Block("## Who may join: the token", "sh", 1));
}

TEST_F(Hosts, WithTls) {
  MakeToken();
  if (IsSkipped() || HasFatalFailure()) return;
  MakeCertificates();
  if (IsSkipped() || HasFatalFailure()) return;
  for (const std::string& block :
       {Block("## By hand", "sh", 0), Block("## By hand", "sh", 1), Block("## Host files", "sh")}) {
    ExpectRuns(block, Block("## TLS", "sh", 1));
    for (int host = 1; host <= kHosts; ++host) {
      fs::remove_all(folder_.File("node" + std::to_string(host) + "/run"));
    }
  }
}

// Each host has its own certificate, which names no host.
TEST_F(Hosts, WithTlsIdentities) {
  MakeToken();
  if (IsSkipped() || HasFatalFailure()) return;
  const fs::path by = folder_.File("authority");
  fs::create_directory_symlink(fs::absolute("tools"), by / "tools");
  GrapevineProcess make({"-euc", "cd " + by.string() + "\n" + Block("## TLS", "sh", 2)},
                        {.program = "/bin/sh"});
  ASSERT_EQ(make.Await(), 0) << make.output();
  for (int host = 1; host <= kHosts; ++host) {
    const fs::path to = fs::path(folder_.File("node" + std::to_string(host))) / "tls";
    fs::create_directories(to);
    const std::string node = "node-" + std::to_string(host - 1);
    for (const std::string& file : {std::string("ca.pem"), node + ".pem", node + ".key"}) {
      fs::copy(by / "tls" / file, to);
    }
  }
  ExpectRuns(Block("## By hand", "sh", 0), Block("## TLS", "sh", 3));
}

// The tour's line is rank 0's; the others differ from it in the rank alone.
TEST_F(Hosts, AsInTheTour) {
  std::string line;
  for (std::istringstream lines(FileText("docs/tour.md"));
       std::getline(lines, line) && !line.starts_with("grapevine node ");) {
  }
  const std::string rank = "--rank=0";
  ASSERT_THAT(line, HasSubstr(rank + " --world-size=4"));
  for (int host = 1; host <= kHosts; ++host) {
    std::string command = line;
    command.replace(command.find(rank), rank.size(), "--rank=" + std::to_string(host - 1));
    Start(host, "node" + std::to_string(host), command);
  }
  ExpectSuccess();
  ExpectFilesOfEachHost();
}

TEST_F(Hosts, ByIpv6) {
  if (!fs::exists("/proc/net/if_inet6")) GTEST_SKIP() << "IPv6 is missing";
  for (int host = 1; host <= kHosts; ++host) {
    Start(host, "node" + std::to_string(host),
          "grapevine node --world-size=4 --master-addr='[fd00::1]:29501' --insecure --out=run "
          "--rank=" +
              std::to_string(host - 1));
  }
  ExpectSuccess();
  ExpectFilesOfEachHost();
}

// The text below `begin`, as far as it is further in than that, without what it is further in.
std::string BlockBelow(const std::string& yaml, const std::string& begin) {
  std::istringstream lines(yaml);
  std::string line, block;
  while (std::getline(lines, line) && line.find(begin) == line.npos) {
  }
  const size_t outside = line.find_first_not_of(" -");
  size_t inside = 0;
  while (std::getline(lines, line)) {
    const size_t indentation = line.find_first_not_of(' ');
    if (inside == 0) inside = indentation;
    if (indentation < inside || inside <= outside - 2) break;
    block += line.substr(std::min(inside, line.size())) + "\n";
  }
  return block;
}

// Each host is a pod, whose volume is the folder that all share, and whose first process is the
// script's shell.
class Pods : public Hosts {
 protected:
  void SetUp() override {
    Hosts::SetUp();
    if (IsSkipped()) return;
    const std::string manifest = FileText("deploy/kubernetes/trainers.yaml");
    for (const char* file : {"experiment.textproto", "node.sh", "probe.sh"}) {
      const std::string block = BlockBelow(manifest, "  " + std::string(file) + ": |");
      ASSERT_FALSE(block.empty()) << file;
      folder_.Write(file, block);
      ASSERT_THAT(manifest, HasSubstr("/etc/trainers/" + std::string(file)));
    }
    patience_ = 3 * kPatience;
  }

  Variables OfPod(int host) const {
    return {{"HOSTNAME", "trainers-" + std::to_string(host - 1)},
            {"NODES", std::to_string(kHosts)},
            {"RUNS", folder_.File("shared")},
            {"EXPERIMENT", folder_.File("experiment.textproto")},
            {"METRICS_PORT", "9400"},
            {"LOOKS_FOR", "8s"},
            {"GATHERS_FOR", "2min"},
            {"GRAPEVINE_TOKEN", "8f21-a-token-of-the-test-03c7"}};
  }
  void StartPod(int host, const std::string& epochs, const std::string& checkpoint_every = "500") {
    Variables variables = OfPod(host);
    variables["GRAPEVINE_EPOCHS"] = epochs;
    variables["GRAPEVINE_CHECKPOINT_EVERY"] = checkpoint_every;
    variables["GRAPEVINE_LOG_EVERY"] = "20";
    Start(host, "shared",
          "echo $$ > " + PidFile(host) + "\nexec unshare --pid --fork --kill-child --mount-proc " +
              "sh -eu " + folder_.File("node.sh"),
          variables);
  }
  void StartPods(const std::string& epochs, const std::string& checkpoint_every = "500") {
    for (int host = 1; host <= kHosts; ++host) StartPod(host, epochs, checkpoint_every);
  }
  // In the place of one that has ended.
  void StartPodAgain(int host, const std::string& epochs) {
    StartPod(host, epochs);
    Pod(host) = std::move(processes_.back());
    processes_.pop_back();
  }
  std::unique_ptr<GrapevineProcess>& Pod(int host) {
    return processes_.at(static_cast<size_t>(host) - 1);
  }
  std::string PidFile(int host) const { return folder_.File("pod." + std::to_string(host)); }

  // Of a command on a host.
  int ExitCode(int host, const std::string& command) {
    Start(host, "shared", command, OfPod(host));
    const std::unique_ptr<GrapevineProcess> process = std::move(processes_.back());
    processes_.pop_back();
    return process->Await();
  }
  // To the first process of the pod; whether there is one.
  bool Signal(int host, int signal) {
    const std::string pid = "$(cat " + PidFile(host) + ")";
    return ExitCode(host, "kill -" + std::to_string(signal) + " $(cat /proc/" + pid + "/task/" +
                              pid + "/children)") == 0;
  }
  void ExpectFailure(int host) {
    EXPECT_GT(Pod(host)->Await(), 0) << Pod(host)->output();  // unshare's, of a signal
  }
  void Kill(int host) {
    ASSERT_TRUE(Signal(host, SIGKILL));
    ExpectFailure(host);
  }
  // The last may end before it is reached: fewer than half of them are left then.
  void KillAll() {
    for (int host = 1; host <= kHosts; ++host) Signal(host, SIGKILL);
    for (int host = 1; host <= kHosts; ++host) ExpectFailure(host);
    processes_.clear();
  }
  bool ProbeSays(int host, const std::string& what) {
    return ExitCode(host, "bash -eu " + folder_.File("probe.sh") + " " + what) == 0;
  }

  uintmax_t Measured(int host) const {
    const fs::path metrics =
        folder_.File("shared/1/node-" + std::to_string(host - 1) + "/metrics.jsonl");
    return fs::exists(metrics) ? fs::file_size(metrics) : 0;
  }
  // Whether more is measured there than before.
  bool GoesOn(int host, uintmax_t before) {
    return Eventually([&] { return Measured(host) > before; }, patience_);
  }
  bool HasCheckpoint() const {
    const fs::path checkpoints = folder_.File("shared/1/checkpoints");
    std::error_code none;
    return std::ranges::any_of(fs::directory_iterator(checkpoints, none), [](const auto& entry) {
      return fs::exists(entry.path() / "manifest.textproto");
    });
  }
  void ExpectWholeRun() const {
    EXPECT_TRUE(fs::exists(folder_.File("shared/1/summary.json")));
    for (int rank = 0; rank < kHosts; ++rank) {
      EXPECT_TRUE(
          fs::exists(folder_.File("shared/1/node-" + std::to_string(rank) + "/model.safetensors")));
    }
  }
};

constexpr char kEndless[] = "20000";  // epochs: longer than any test

// Those that are started again after that are well, and go as soon as they are told to.
TEST_F(Pods, OfAStatefulSetTrain) {
  for (int host = kHosts; host >= 1; --host) StartPod(host, "0.5");
  ExpectSuccess();
  ExpectWholeRun();
  StartPods("0.5");
  for (int host = 1; host <= kHosts; ++host) {
    EXPECT_TRUE(ProbeSays(host, "healthz"));
    EXPECT_TRUE(ProbeSays(host, "readyz"));
    // Once the shell has said what it does at SIGTERM.
    ASSERT_TRUE(Eventually([&] {
      return ExitCode(host, "pgrep -P $(cat /proc/$(cat " + PidFile(host) + ")/task/$(cat " +
                                PidFile(host) + ")/children) sleep") == 0;
    }));
    ASSERT_TRUE(Signal(host, SIGTERM));
  }
  ExpectSuccess();
}

TEST_F(Pods, OneThatIsKilledComesInAgainRankZeroToo) {
  StartPods(kEndless);
  for (const int host : {3, 1}) {
    ASSERT_TRUE(GoesOn(host, 0));
    EXPECT_TRUE(ProbeSays(host, "readyz"));
    Kill(host);
    EXPECT_FALSE(ProbeSays(host, "healthz"));
    const uintmax_t before = Measured(host);
    StartPodAgain(host, kEndless);
    ASSERT_TRUE(GoesOn(host, before)) << "it is not in: " << Pod(host)->output();
  }
  KillAll();
}

// As when a pool of machines is exchanged. Then rank 0 comes into the run that goes on, is told to
// leave it, and comes in once more.
TEST_F(Pods, AllThatAreKilledAtOnceGoOnFromTheirLastCheckpoint) {
  StartPods(kEndless);
  ASSERT_TRUE(Eventually([&] { return HasCheckpoint(); }, patience_));
  KillAll();
  StartPods(kEndless);
  ASSERT_TRUE(Pod(1)->AwaitOutput("\nround ")) << Pod(1)->output();
  EXPECT_THAT(Pod(1)->output(), Not(HasSubstr("\nround 20/")));
  Kill(1);
  for (const bool leaves : {true, false}) {
    const uintmax_t before = Measured(1);
    StartPodAgain(1, kEndless);
    ASSERT_TRUE(GoesOn(1, before)) << "it is not in: " << Pod(1)->output();
    if (!leaves) break;
    ASSERT_TRUE(Signal(1, SIGTERM));
    EXPECT_EQ(Pod(1)->Await(), 0) << Pod(1)->output();
    EXPECT_THAT(Pod(1)->output(), HasSubstr("rank 0 has left the run: "));
  }
  KillAll();
}

TEST_F(Pods, AllThatAreKilledBeforeTheirFirstCheckpointBeginAnew) {
  StartPods(kEndless, "1000000");
  ASSERT_TRUE(GoesOn(1, 0));
  KillAll();
  StartPods("0.5");
  ExpectSuccess();
  ExpectWholeRun();
}

// Rank 0 knows its machine by a name that is no other's business.
TEST_F(Hosts, RankZeroNeedNotKnowItsAddress) {
  const std::string node = "grapevine node --world-size=4 --insecure --out=run --master-addr=";
  Start(1, "node1", node + "localhost --bind=0.0.0.0:29500 --rank=0");
  Start(1, "node2", node + "localhost --bind=0.0.0.0 --rank=1");
  Start(3, "node3", node + "10.0.0.1 --rank=2");
  Start(4, "node4", node + "node1 --rank=3");
  ExpectSuccess();
  ExpectFilesOfEachHost();
}

TEST_F(Hosts, AnAddressThatOnlyItsOwnMachineReachesIsRefused) {
  const std::string node =
      "grapevine node --world-size=2 --insecure --out=run --master-addr=node1 ";
  Start(1, "node1", node + "--rank=0");
  Start(2, "node2", node + "--rank=1 --bind=127.0.0.1");
  EXPECT_EQ(processes_[1]->Await(), kRendezvous);
  EXPECT_THAT(processes_[1]->output(),
              AllOf(ContainsRegex("rank 0 refuses rank 1 at 127.0.0.1:[0-9]+"),
                    HasSubstr("comes from 10.0.0.2"), HasSubstr("--bind=0.0.0.0")));
}

// Eight ranks, two on each host; one file system for all.
class Launchers : public Hosts {
 protected:
  static constexpr int kRanks = 8;

  // A program called `launcher` that does what one is for: it runs the command
  // after its own flags once for each rank, with the variables that `exports` sets.
  void StandIn(const std::string& launcher, const std::string& exports) {
    const std::string program = folder_.Write(
        "bin/" + launcher,
        "#!/bin/sh\n"
        "while [ $1 != grapevine ]; do case $1 in *=*) export $1;; esac; shift; done\n"
        "ranks=\n"
        "for rank in $(seq 0 7); do\n  export " +
            exports + "\n" + "  nsenter --target=$(cat " + folder_.path() +
            "/pid.$((rank / 2 + 1))) --net --mount "
            "--uts sh -c 'cd \"$0\"; exec \"$@\"' \"$PWD\" \"$@\" &\n"
            "  ranks=\"$ranks $!\"\n"
            "done\n"
            "for process in $ranks; do wait $process || exit; done\n");
    fs::permissions(program, fs::perms::owner_all);
  }

  void ExpectFiles(const std::string& run) const {
    EXPECT_TRUE(fs::exists(folder_.File("shared/runs/" + run + "/summary.json")));
    for (int rank = 0; rank < kRanks; ++rank) {
      const std::string node = "/node-" + std::to_string(rank) + "/model.safetensors";
      EXPECT_TRUE(fs::exists(folder_.File("shared/runs/" + run + node)));
    }
  }
};

TEST_F(Launchers, VariablesOfSlurm) {
  MakeCertificates();
  if (IsSkipped() || HasFatalFailure()) return;
  StandIn("srun",
          "SLURM_PROCID=$rank SLURM_NTASKS=8 SLURM_LOCALID=$((rank % 2)) "
          "SLURM_STEP_NODELIST='node[1-4]' SLURM_JOB_NODELIST='node[1-4]'");
  Start(1, "shared", Block("## Slurm", "sh"), {{"SLURM_JOB_ID", "17"}});
  ExpectSuccess();
  ExpectFiles("17");
}

TEST_F(Launchers, VariablesOfOpenMpi) {
  StandIn("mpirun",
          "OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=8 "
          "OMPI_COMM_WORLD_LOCAL_RANK=$((rank % 2)) OMPI_COMM_WORLD_LOCAL_SIZE=2");
  Start(1, "shared", Block("## mpirun", "sh", 1));
  ExpectSuccess();
  ExpectFiles("1");
}

// A cluster of Slurm whose controller writes into `folder`; without munge and
// cgroups, which it would need on real machines.
std::string SlurmConfiguration(const std::string& folder) {
  return "ClusterName=test\nSlurmctldHost=node1\nSlurmUser=root\nSlurmdUser=root\n"
         "AuthType=auth/none\nCredType=cred/none\nProctrackType=proctrack/linuxproc\n"
         "TaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\nMpiDefault=none\n"
         "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nReturnToService=2\n"
         "SlurmdParameters=config_overrides\nSlurmdSpoolDir=/mnt\nSlurmdPidFile=/mnt/pid\n"
         "NodeName=node[1-4] CPUs=16 State=UNKNOWN\nPartitionName=all Nodes=ALL Default=YES\n"
         "StateSaveLocation=" +
         folder + "\nSlurmctldPidFile=" + folder + "/pid\n";
}

TEST_F(Launchers, Sbatch) {
  for (const char* program : {"sbatch", "srun", "slurmctld", "slurmd"}) {
    if (!Installed(program)) GTEST_SKIP() << program << " is not installed";
  }
  if (FileText("/proc/self/setgroups") != "allow\n") GTEST_SKIP() << "Slurm needs to be root";
  MakeCertificates();
  if (IsSkipped() || HasFatalFailure()) return;
  fs::create_directories(folder_.File("slurm"));
  const Variables variables = {
      {"SLURM_CONF", folder_.Write("slurm/slurm.conf", SlurmConfiguration(folder_.File("slurm")))}};
  Start(1, "slurm", "slurmctld -D -i", variables);
  for (int host = 1; host <= kHosts; ++host) {
    // Each host's own, and short enough for the name of a socket.
    Start(host, "slurm", "mount -t tmpfs spool /mnt && slurmd -D", variables);
  }
  const auto daemons = std::exchange(processes_, {});
  const std::string state = "until [ \"$(sinfo -h -t idle -o %D)\" = 4 ]; do sleep 0.05; done\n";

  folder_.Write("shared/job.sh", Block("## Slurm", "sh"));
  Start(1, "shared", state + "sbatch --wait --output=job.out job.sh || { cat job.out; exit 1; }",
        variables);
  ExpectSuccess();
  ExpectFiles("1");
  if (!HasFailure()) return;
  for (const auto& daemon : daemons) ADD_FAILURE() << daemon->output();
}

}  // namespace
}  // namespace grapevine::testing
