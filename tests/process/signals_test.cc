// The kernel gives a signal that is sent to a process to any thread that does not block it, and one
// that does not block SIGTERM dies of it with its process: no checkpoint, no word to the others.
// Whatever starts a thread, none takes a signal, and a node that is told to end ends as promised.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/model/datasets/image_of.h"
#include "tests/model/datasets/write_jpeg.h"
#include "tests/model/scratch_folder.h"
#include "tests/node/store/etcd_server.h"
#include "tests/process/exit_codes.h"
#include "tests/process/free_port.h"
#include "tests/process/grapevine_process.h"
#include "tests/process/signal_takers.h"
#include "tests/testing/certificates.h"

namespace grapevine::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Flags = std::vector<std::string>;

constexpr int kNodes = 3;
// gRPC's alone are more.
constexpr int kFewThreads = 6;
constexpr char kForever[] = "--rounds=1000000000";

// Looks at all threads but each process's first until `holds`. What takes signals is a failure.
void ExpectNoTakersUntil(const std::function<std::vector<pid_t>()>& processes,
                         const std::function<bool()>& holds, const std::string& what) {
  std::set<std::string> takers;
  const bool held = Eventually([&] {
    for (const pid_t process : processes()) takers.merge(SignalTakers(process, /*first=*/false));
    return holds();
  });
  EXPECT_TRUE(held) << what;
  EXPECT_THAT(takers, IsEmpty());
}

class Signals : public ::testing::Test {
 protected:
  void Start(int rank, const std::string& place, const Flags& flags) {
    Flags node = {"node",
                  "--rank=" + std::to_string(rank),
                  "--world-size=" + std::to_string(kNodes),
                  "--coordinator=" + place,
                  "--bind=127.0.0.1",
                  "--batch=8",
                  "--out=" + folder_.File("run"),
                  kForever};
    node.insert(node.end(), flags.begin(), flags.end());
    const GrapevineProcess::Options options{.environment = {{"LOCAL_RANK", std::to_string(rank)}}};
    nodes_.push_back(std::make_unique<GrapevineProcess>(node, options));
  }
  void StartAll(const std::string& place, const Flags& flags) {
    for (int rank = 0; rank < kNodes; ++rank) Start(rank, place, flags);
  }
  void StartAtAPort(const Flags& flags) { StartAll(APort(), flags); }
  static std::string APort() { return "127.0.0.1:" + std::to_string(FreePort()); }

  std::vector<pid_t> Processes() const {
    std::vector<pid_t> processes;
    for (const auto& node : nodes_) processes.push_back(node->pid());
    return processes;
  }
  void ExpectNoTakersUntil(const std::function<bool()>& holds) {
    testing::ExpectNoTakersUntil([this] { return Processes(); }, holds, nodes_[0]->output());
  }

  // From the first thread to the last; `exit_code` is that of rank 0, which is told to end once it
  // trains.
  void ExpectEnd(int signal, int exit_code, const std::string& text) {
    GrapevineProcess& zero = *nodes_[0];
    ExpectNoTakersUntil([&] { return zero.output().find("round 3") != std::string::npos; });
    for (const pid_t process : Processes()) {
      EXPECT_THAT(SignalTakers(process, /*first=*/true), IsEmpty());
      EXPECT_GT(ThreadsOf(process), kFewThreads);
    }
    zero.Signal(signal);
    ExpectNoTakersUntil([&] { return zero.Alive().empty(); });
    EXPECT_EQ(zero.Await(), exit_code) << zero.output();
    EXPECT_THAT(zero.output(), HasSubstr(text));
  }

  const ScratchFolder folder_;
  std::vector<std::unique_ptr<GrapevineProcess>> nodes_;  // go first
};

// A test that blocks them itself would have its processes block them.
TEST_F(Signals, ReachTheseTestsAndAProgramsFirstThread) {
  EXPECT_FALSE(SignalTakers(getpid(), /*first=*/true).empty());
  const GrapevineProcess sleeper({"1000"}, {.program = "/bin/sleep"});
  EXPECT_TRUE(Eventually([&] { return SignalTakers(sleeper.pid(), /*first=*/true).size() == 1; }));
  EXPECT_THAT(SignalTakers(sleeper.pid(), /*first=*/false), IsEmpty());
}

const Flags kSoftmax = {"--model=softmax", "--data=synthetic:train=512:test=200", "--log-every=1",
                        "--on-failure=end"};

Flags With(Flags flags, const Flags& more) {
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

struct Setting {
  std::string name;
  Flags flags;  // {file} is one in the test's folder, {port} the first of free ones
  friend std::ostream& operator<<(std::ostream& out, const Setting& setting) {
    return out << setting.name;
  }
};

class SignalsUnder : public Signals, public ::testing::WithParamInterface<Setting> {
 protected:
  Flags OwnFlags() const {
    Flags flags = kSoftmax;
    for (std::string flag : GetParam().flags) {
      if (const size_t at = flag.find("{file}"); at != flag.npos) {
        flag.replace(at, 6, folder_.File("file"));
      }
      if (const size_t at = flag.find("{port}"); at != flag.npos) {
        flag.replace(at, 6, std::to_string(FreePorts(kNodes)));
      }
      flags.push_back(flag);
    }
    return flags;
  }
};

// With a checkpoint, which a node that is killed would not write.
TEST_P(SignalsUnder, NoThreadTakesThem) {
  StartAtAPort(With(OwnFlags(), {"--checkpoint-every=100000"}));
  ExpectEnd(SIGTERM, kTerminated, "grapevine node: the checkpoint of round ");
}

INSTANTIATE_TEST_SUITE_P(
    Settings, SignalsUnder,
    ::testing::Values(Setting{"nothing", {}}, Setting{"dashboard", {"--dashboard={port}"}},
                      Setting{"metrics_port", {"--metrics-port={port}"}},
                      Setting{"trace", {"--trace={file}"}}, Setting{"record", {"--record={file}"}},
                      Setting{"tensorboard", {"--tensorboard"}},
                      Setting{"chaos", {"--chaos=slow:rank=0:at=1h:factor=2"}},
                      Setting{"network", {"--model=lenet5"}},
                      Setting{"adpsgd", {"--algorithm=adpsgd", "--topology=complete"}},
                      Setting{"servers", {"--algorithm=ps:async"}}),
    [](const auto& setting) { return setting.param.name; });

TEST_F(Signals, EachEndsANodeInItsWay) {
  for (const auto& [signal, exit_code, text] :
       {std::tuple{SIGTERM, kTerminated, "terminated (SIGTERM)"},
        std::tuple{SIGINT, kInterrupted, "interrupted (SIGINT)"},
        std::tuple{SIGHUP, kTerminated, "terminated (SIGHUP)"}}) {
    const std::string ports = std::to_string(FreePorts(kNodes));
    StartAtAPort(With(kSoftmax, {"--dashboard=" + std::to_string(FreePort()), "--overwrite",
                                 "--metrics-port=" + ports}));
    ExpectEnd(signal, exit_code, text);
    nodes_.clear();
  }
}

TEST_F(Signals, NoThreadOfTlsTakesThem) {
  if (!CanMakeCertificates()) GTEST_SKIP() << "openssl is missing";
  ASSERT_TRUE(MakeCertificates(folder_.File("tls"), "run-1", kNodes, "IP:127.0.0.1"));
  StartAtAPort(With(kSoftmax, {"--tls-ca=" + folder_.File("tls/ca.pem"),
                               "--tls-cert=" + folder_.File("tls/node-{rank}.pem"),
                               "--tls-key=" + folder_.File("tls/node-{rank}.key")}));
  ExpectEnd(SIGTERM, kTerminated, "terminated (SIGTERM)");
}

// Rank 0's role moves there, and a rank 0 that is told to end leaves a run that goes on.
constexpr char kLeaves[] = "rank 0 has left the run: rank 0 at ";

TEST_F(Signals, NoThreadThatWatchesAFolderTakesThem) {
  StartAll("file:" + folder_.File("store"), With(kSoftmax, {"--on-failure=shrink"}));
  ExpectEnd(SIGTERM, 0, kLeaves);
}

TEST_F(Signals, NoThreadThatWatchesEtcdTakesThem) {
  if (EtcdServer::Program().empty()) GTEST_SKIP() << EtcdServer::kMissing;
  const EtcdServer etcd(folder_.File("etcd"));
  StartAll("etcd:" + etcd.address() + "/run-17", With(kSoftmax, {"--on-failure=shrink"}));
  ExpectEnd(SIGTERM, 0, kLeaves);
}

TEST_F(Signals, NoThreadThatDecodesPicturesTakesThem) {
  for (const char* split : {"train", "val"}) {
    for (int label = 0; label < 2; ++label) {
      const std::string folder = std::string("pictures/") + split + "/" + std::to_string(label);
      std::filesystem::create_directories(folder_.File(folder));
      for (int picture = 0; picture < 4 * kNodes; ++picture) {
        folder_.Write(folder + "/" + std::to_string(picture) + ".jpg",
                      JpegBytes({}, [&](int x, int, int) { return 8 * x + label; }));
      }
    }
  }
  StartAtAPort(With(kSoftmax, {"--data=image-folder:" + folder_.File("pictures") + ":size=8"}));
  ExpectEnd(SIGTERM, kTerminated, "terminated (SIGTERM)");
}

// It waits for the others, to tell them.
TEST_F(Signals, NoThreadOfARankZeroThatCannotBeginTakesThem) {
  folder_.Write("run", "is no run directory");
  Start(0, APort(), kSoftmax);
  const auto said = [&] {
    return nodes_[0]->output().find("cannot begin, and tells the others") != std::string::npos;
  };
  ExpectNoTakersUntil([&] { return said() && ThreadsOf(nodes_[0]->pid()) > kFewThreads; });
  for (int look = 0; look < 20; ++look) {
    EXPECT_THAT(SignalTakers(nodes_[0]->pid(), /*first=*/false), IsEmpty());
  }
  nodes_[0]->Signal(SIGTERM);
  EXPECT_EQ(nodes_[0]->Await(), kTerminated) << nodes_[0]->output();
}

TEST(SignalsOfLaunchedNodes, NoThreadTakesThem) {
  const ScratchFolder folder;
  GrapevineProcess train(
      With({"train", "-n3", "--batch=8", "--checkpoint-every=100000", kForever,
            "--out=" + folder.File("run"), "--dashboard=" + std::to_string(FreePort()),
            "--metrics-port=" + std::to_string(FreePorts(kNodes))},
           kSoftmax));
  const auto alive = [&] { return train.Alive(); };
  ExpectNoTakersUntil(
      alive, [&] { return train.output().find("round 3") != std::string::npos; }, train.output());
  for (const pid_t process : train.Alive()) {
    EXPECT_THAT(SignalTakers(process, /*first=*/true), IsEmpty());
  }
  train.Signal(SIGTERM);
  ExpectNoTakersUntil(
      alive, [&] { return train.Alive().empty(); }, train.output());
  EXPECT_EQ(train.Await(), kTerminated) << train.output();
  EXPECT_THAT(train.output(), HasSubstr("goes on after round "));
}

struct Command {
  std::string name;
  Flags arguments;
  std::string text;  // at the end
  friend std::ostream& operator<<(std::ostream& out, const Command& command) {
    return out << command.name;
  }
};

class SignalsOf : public ::testing::TestWithParam<Command> {};

TEST_P(SignalsOf, NoThreadTakesThem) {
  const ScratchFolder folder;
  GrapevineProcess command(
      With(GetParam().arguments, {"--out=" + folder.File(GetParam().arguments[0])}));
  const auto process = [&] { return std::vector{command.pid()}; };
  int looks = 0;
  ExpectNoTakersUntil(
      process, [&] { return ThreadsOf(command.pid()) > 1 && ++looks > 50; }, command.output());
  EXPECT_THAT(SignalTakers(command.pid(), /*first=*/true), IsEmpty());
  command.Signal(SIGTERM);
  ExpectNoTakersUntil(
      process, [&] { return command.Alive().empty(); }, command.output());
  EXPECT_EQ(command.Await(), kTerminated) << command.output();
  EXPECT_THAT(command.output(), HasSubstr(GetParam().text));
}

const Flags kSimulation = {"sim", "-n8", "--compute=5ms", kForever};

INSTANTIATE_TEST_SUITE_P(
    Commands, SignalsOf,
    ::testing::Values(
        Command{"simulation", With(With(kSimulation, kSoftmax), {"--checkpoint-every=100000"}),
                "the checkpoint of round"},
        Command{"sweep",
                With(kSimulation, {"--model=phantom:1MB", "--bandwidth=1Gbit,2Gbit,3Gbit,4Gbit"}),
                ""}),
    [](const auto& command) { return command.param.name; });

}  // namespace
}  // namespace grapevine::testing
