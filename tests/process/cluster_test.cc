// Nodes that are started one by one, as on a cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "run/trace/run_trace.h"
#include "system/file_descriptor.h"
#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/free_port.h"
#include "tests/process/grapevine_process.h"
#include "tests/process/short_run.h"
#include "tests/testing/certificates.h"
#include "tests/testing/file_text.h"
#include "tests/testing/stalled_file.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// One of two nodes; `flags` override nothing and are appended.
std::vector<std::string> Node(int rank, int port, const std::string& out,
                              const std::vector<std::string>& flags) {
  std::vector<std::string> arguments = {"node",
                                        "--rank=" + std::to_string(rank),
                                        "--world-size=2",
                                        "--master-addr=127.0.0.1",
                                        "--master-port=" + std::to_string(port),
                                        "--out=" + out};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return arguments;
}

const std::vector<std::string> kLongRun = {"--model=phantom:1MB", "--compute=5ms",
                                           "--rounds=100000", "--peer-timeout=10s"};

std::vector<std::string> With(std::vector<std::string> flags, const std::string& flag) {
  flags.push_back(flag);
  return flags;
}

TEST(Cluster, NodesFindEachOtherAndTrain) {
  const ScratchFolder folder;
  const int port = FreePort();
  // Rank 1 comes first and waits for rank 0.
  GrapevineProcess one(Node(1, port, folder.File("run"), kShortRun));
  GrapevineProcess zero(Node(0, port, folder.File("run"), kShortRun));
  EXPECT_EQ(zero.Await(), 0) << zero.output();
  EXPECT_EQ(one.Await(), 0) << one.output();
  EXPECT_THAT(zero.output(), HasSubstr("round 5/5"));
  EXPECT_TRUE(std::filesystem::exists(folder.File("run/model.safetensors")));
}

// Rank 0 listens on every address and is not told which of them the others use.
TEST(Cluster, RankZeroListensEverywhere) {
  const ScratchFolder folder;
  const int port = FreePort();
  std::vector<std::string> flags = With(kShortRun, "--insecure");
  GrapevineProcess zero(
      Node(0, port, folder.File("run"), With(flags, "--bind=0.0.0.0:" + std::to_string(port))));
  GrapevineProcess one(Node(1, port, folder.File("run"), flags));
  EXPECT_EQ(zero.Await(), 0) << zero.output();
  EXPECT_EQ(one.Await(), 0) << one.output();
}

TEST(Cluster, RankZeroOnIpv6Loopback) {
  if (!std::filesystem::exists("/proc/net/if_inet6")) GTEST_SKIP() << "IPv6 is missing";
  const ScratchFolder folder;
  const int port = FreePort();
  const std::string master = "--master-addr=[::1]:" + std::to_string(port);
  GrapevineProcess zero(Node(0, port, folder.File("run"), With(kShortRun, master)));
  GrapevineProcess one(Node(1, port, folder.File("run"), With(kShortRun, master)));
  EXPECT_EQ(one.Await(), 0) << one.output();
  EXPECT_EQ(zero.Await(), 0) << zero.output();
}

TEST(Cluster, TwoPortsOfRankZeroAreAContradiction) {
  const ScratchFolder folder;
  const Ended ended = RunGrapevine(
      Node(1, FreePort(), folder.File("run"), With(kShortRun, "--master-addr=node1:29500")));
  EXPECT_EQ(ended.exit_code, kUsage) << ended.output;
  EXPECT_THAT(ended.output,
              AllOf(HasSubstr("--master-addr says 29500"), HasSubstr("--master-port says")));
}

TEST(Cluster, APortInUseIsNamedWithTheRemedy) {
  const ScratchFolder folder;
  const TakenPort taken;
  const Ended ended = RunGrapevine(Node(0, taken.port(), folder.File("run"), kShortRun));
  EXPECT_EQ(ended.exit_code, kRendezvous);
  EXPECT_THAT(ended.output, HasSubstr("cannot listen on 127.0.0.1:" + std::to_string(taken.port()) +
                                      ": Address already in use"));
  EXPECT_THAT(ended.output, HasSubstr("--master-port"));
}

TEST(Cluster, NobodyAtRankZerosPort) {
  const ScratchFolder folder;
  const int port = FreePort();
  const Ended ended = RunGrapevine(
      Node(1, port, folder.File("run"), With(kShortRun, "--rendezvous-timeout=500ms")));
  EXPECT_EQ(ended.exit_code, kRendezvous);
  EXPECT_THAT(ended.output,
              AllOf(HasSubstr("cannot join the run: rank 0 at 127.0.0.1:" + std::to_string(port)),
                    HasSubstr("refused")));
}

// Each machine has its own folder, and rank 0 looks at its own alone.
TEST(Cluster, ANodeMixesNoTwoRuns) {
  const ScratchFolder folder;
  const auto run = [&](const std::string& rank_zeros, const std::string& flag) {
    const int port = FreePort();
    GrapevineProcess zero(Node(0, port, folder.File(rank_zeros), kShortRun));
    GrapevineProcess one(Node(1, port, folder.File("there"), With(kShortRun, flag)));
    const int exit_code = one.Await();
    EXPECT_EQ(zero.Await(), exit_code) << zero.output();
    return Ended{exit_code, zero.output()};
  };
  const std::string metrics = folder.File("there/node-1/metrics.jsonl");
  EXPECT_EQ(run("first", "--overwrite").exit_code, 0);
  const std::string first = FileText(metrics);
  const Ended second = run("second", "--overwrite=false");
  EXPECT_EQ(second.exit_code, kOutput);
  EXPECT_THAT(second.output,
              AllOf(HasSubstr("rank 1"), HasSubstr("there/node-1 holds an earlier run"),
                    HasSubstr("--overwrite")));
  EXPECT_EQ(FileText(metrics), first);
  EXPECT_EQ(run("third", "--overwrite").exit_code, 0);
  EXPECT_EQ(std::ranges::count(FileText(metrics), '\n'), std::ranges::count(first, '\n'));
}

// What a node says of itself, in the environment of a launcher.
TEST(Cluster, ADryRunSaysWhichNodeThisIs) {
  const ScratchFolder folder;
  const Ended ended = RunGrapevine(
      {"node", "--dry-run", "--insecure", "--out=" + folder.File("run")},
      {.environment = {{"RANK", "1"}, {"WORLD_SIZE", "3"}, {"MASTER_ADDR", "node1:4000"}}});
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  for (const char* line : {"rank 1 of 3 \\(RANK, WORLD_SIZE\\), local rank 0 \\(default\\)",
                           "listens on 0.0.0.0, any port; rank 0 is at node1:4000", "3 nodes, ring",
                           "nodes +3 +WORLD_SIZE", "rank +1 +RANK",
                           "master-addr +node1 +MASTER_ADDR", "master-port +4000 +MASTER_ADDR"}) {
    EXPECT_THAT(ended.output, ContainsRegex(line));
  }
  EXPECT_FALSE(std::filesystem::exists(folder.File("run")));
}

TEST(Cluster, RankZeroSaysWhatRunsAndWhatCameOut) {
  const ScratchFolder folder;
  const int port = FreePort();
  GrapevineProcess zero(Node(0, port, folder.File("run"), kShortRun));
  GrapevineProcess one(Node(1, port, folder.File("run"), kShortRun));
  ASSERT_EQ(zero.Await(), 0) << zero.output();
  ASSERT_EQ(one.Await(), 0) << one.output();
  EXPECT_THAT(zero.output(),
              AllOf(HasSubstr("2 nodes, ring"), HasSubstr("run directory: " + folder.File("run")),
                    HasSubstr("finished after 5 rounds"),
                    HasSubstr("test accuracy of the averaged model"), HasSubstr("plot it: ")));
  EXPECT_THAT(one.output(), AllOf(HasSubstr("rank 1 of 2 (--rank, --world-size)"),
                                  HasSubstr("; rank 0 is at 127.0.0.1:" + std::to_string(port)),
                                  HasSubstr("rank 1 is done: " + folder.File("run/node-1"))));
}

TEST(Cluster, ANodeThatDoesNotComeIsMissed) {
  const ScratchFolder folder;
  const Ended ended = RunGrapevine(
      Node(0, FreePort(), folder.File("run"), With(kShortRun, "--rendezvous-timeout=2s")));
  EXPECT_EQ(ended.exit_code, kRendezvous);
  EXPECT_THAT(ended.output, AllOf(HasSubstr("not all of 2 nodes came within 2.0 s"),
                                  HasSubstr("rank 1"), HasSubstr("--rendezvous-timeout")));
  // Nothing is in the way of the next attempt.
  EXPECT_TRUE(std::filesystem::is_empty(folder.File("run")));
}

// A node whose configuration differs is refused, with both values.
void ExpectRefused(const std::string& flag, const ::testing::Matcher<std::string>& message) {
  const ScratchFolder folder;
  const int port = FreePort();
  GrapevineProcess zero(Node(0, port, folder.File("run"), kShortRun));
  GrapevineProcess one(Node(1, port, folder.File("run"), With(kShortRun, flag)));
  EXPECT_EQ(one.Await(), kRendezvous);
  EXPECT_THAT(one.output(), message);
}

TEST(Cluster, RanksMustHaveTheSameExperiment) {
  ExpectRefused("--batch=7", AllOf(HasSubstr("rank 0 refuses rank 1 at 127.0.0.1:"),
                                   HasSubstr("batch is \"7\" there and \"16\" on rank 0")));
  ExpectRefused("--topology=complete",
                HasSubstr("topology is \"complete\" there and \"ring\" on rank 0"));
}

// With a token it is of this run, which cannot begin without it.
TEST(Cluster, AProvenMisfitEndsTheStartOfAll) {
  const ScratchFolder folder;
  const int port = FreePort();
  const std::string token = "--token-file=" + folder.Write("token", "a-token-of-this-run");
  std::vector<std::string> flags = With(With(kShortRun, "--world-size=3"), token);
  GrapevineProcess zero(Node(0, port, folder.File("run"), flags));
  GrapevineProcess one(Node(1, port, folder.File("run-1"), flags));
  ASSERT_TRUE(zero.AwaitOutput("waiting for 1 of 3 nodes: rank 2 is missing")) << zero.output();
  GrapevineProcess two(Node(2, port, folder.File("run-2"), With(flags, "--batch=7")));
  for (GrapevineProcess* node : {&zero, &one, &two}) {
    EXPECT_EQ(node->Await(), kRendezvous) << node->output();
    EXPECT_THAT(node->output(),
                ContainsRegex("rank 0 refuses rank 2 at 127.0.0.1:[0-9]+: batch is \"7\" there and "
                              "\"16\" on rank 0"));
  }
}

TEST(Cluster, EachRankMayKeepItsWeightsElsewhere) {
  const ScratchFolder folder;
  std::vector<std::string> first = {"train", "-n", "1", "--out=" + folder.File("first")};
  first.insert(first.end(), kShortRun.begin(), kShortRun.end());
  ASSERT_EQ(RunGrapevine(first).exit_code, 0);
  const std::string here = folder.File("first/model.safetensors"), there = folder.File("copy");
  std::filesystem::copy_file(here, there);
  const int port = FreePort();
  GrapevineProcess zero(Node(0, port, folder.File("run"), With(kShortRun, "--init-from=" + here)));
  GrapevineProcess one(Node(1, port, folder.File("run"), With(kShortRun, "--init-from=" + there)));
  EXPECT_EQ(zero.Await(), 0) << zero.output();
  EXPECT_EQ(one.Await(), 0) << one.output();
}

TEST(Cluster, RanksMustHaveTheSameData) {
  ExpectRefused("--data=synthetic:train=512:test=200:seed=2",
                AllOf(HasSubstr("data is \"synthetic: 512 + 200 images of 28x28x1"),
                      HasSubstr("same files")));
}

TEST(Cluster, RanksMustHaveTheSameWorldSize) {
  ExpectRefused("--world-size=3", HasSubstr("the number of nodes is 3 there and 2 on rank 0"));
}

TEST(Cluster, ATakenRankIsRefused) {
  const ScratchFolder folder;
  const int port = FreePort();
  GrapevineProcess zero(Node(0, port, folder.File("run"), kLongRun));
  GrapevineProcess one(Node(1, port, folder.File("run"), kLongRun));
  ASSERT_TRUE(zero.AwaitOutput("round 2/")) << zero.output();
  const Ended twin = RunGrapevine(Node(1, port, folder.File("twin"), kLongRun));
  EXPECT_EQ(twin.exit_code, kRendezvous) << twin.output;
  EXPECT_THAT(twin.output, HasSubstr("rank 1"));
  EXPECT_EQ(zero.Alive().size(), 1u);
  EXPECT_EQ(one.Alive().size(), 1u);
}

// Connects, sends, hangs up.
void SendGarbage(int port, const std::string& bytes) {
  const UniqueDescriptor client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = Loopback(port);
  ASSERT_EQ(connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

TEST(Cluster, ForeignClientsDoNotDisturbTheRun) {
  const ScratchFolder folder;
  const int port = FreePort();
  GrapevineProcess zero(Node(0, port, folder.File("run"), kLongRun));
  GrapevineProcess one(Node(1, port, folder.File("run"), kLongRun));
  ASSERT_TRUE(zero.AwaitOutput("round 2/")) << zero.output();

  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  std::string noise;
  for (int i = 0; i < 100000; ++i) noise.push_back(static_cast<char>(i * i * 31 + i));
  SendGarbage(port, "");
  SendGarbage(port, "GET / HTTP/1.1\r\nHost: grapevine\r\n\r\n");
  SendGarbage(port, noise.substr(0, 20000));
  SendGarbage(port, preface + noise);
  // A SETTINGS frame, then a DATA frame of 16 MB on a stream that nobody opened.
  SendGarbage(port,
              preface + std::string("\0\0\0\4\0\0\0\0\0\xff\xff\xff\0\0\0\0\0\7", 18) + noise);

  const size_t before = zero.output().size();
  EXPECT_TRUE(Eventually([&] { return zero.output().size() > before + 2000; })) << zero.output();
  zero.Signal(SIGINT);
  EXPECT_EQ(zero.Await(), 128 + SIGINT) << zero.output();
  EXPECT_EQ(one.Await(), 128 + SIGINT) << one.output();
  EXPECT_THAT(one.output(), ContainsRegex("rank 0 at 127.0.0.1:[0-9]+: interrupted .SIGINT."));
}

void ExpectNoRendezvousWithOneOutOfReach(const std::string& on_failure) {
  const ScratchFolder folder;
  const int port = FreePort();
  std::vector<std::string> flags = {"--model=phantom:1MB",     "--compute=5ms",
                                    "--rounds=100000",         "--peer-timeout=1s",
                                    "--rendezvous-timeout=4s", "--on-failure=" + on_failure};
  GrapevineProcess zero(Node(0, port, folder.File("run"), flags));
  // Nobody listens there: as behind a firewall that rejects.
  GrapevineProcess one(Node(1, port, folder.File("run"), With(flags, "--advertise=127.0.0.1:1")));
  for (GrapevineProcess* node : {&zero, &one}) {
    EXPECT_EQ(node->Await(), kRendezvous) << node->output();
    EXPECT_THAT(node->output(),
                AllOf(HasSubstr("rank 0 at 127.0.0.1:" + std::to_string(port) +
                                " and rank 1 at 127.0.0.1:1 have never been connected"),
                      HasSubstr("rank 1 (127.0.0.1:1) could not be reached within 4.0 s"),
                      HasSubstr("onnection refused"), HasSubstr("grapevine doctor"),
                      Not(HasSubstr("finished"))));
  }
}

TEST(Cluster, APeerThatCannotBeReachedIsNamedWithItsAddress) {
  ExpectNoRendezvousWithOneOutOfReach("end");
}

// All of 127.0.0.0/8 is this machine: such hosts are reached at the addresses that were given.
TEST(Cluster, EveryAddressOfLoopbackIsAHost) {
  const ScratchFolder folder;
  std::vector<std::string> train = {"train", "-H", "127.0.0.2:1,127.0.0.3:1",
                                    "--out=" + folder.File("run"), "--remote-shell=false"};
  train.insert(train.end(), kShortRun.begin(), kShortRun.end());
  const Ended run = RunGrapevine(train);
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_TRUE(std::filesystem::exists(folder.File("run/node-1/model.safetensors")));
}

// Neither goes on alone as if the run had been for one.
TEST(Cluster, APeerThatHasNeverBeenReachedIsNotLeftOut) {
  ExpectNoRendezvousWithOneOutOfReach("shrink");
}

TEST(Cluster, ResultsThatCannotBeWrittenFailEveryNode) {
  const ScratchFolder folder;
  const int port = FreePort();
  GrapevineProcess zero(Node(0, port, folder.File("run"), kShortRun));
  ASSERT_TRUE(zero.AwaitOutput("run directory: ")) << zero.output();
  std::filesystem::create_directories(folder.File("run/summary.json/in-the-way"));
  GrapevineProcess one(Node(1, port, folder.File("run-1"), kShortRun));
  EXPECT_EQ(zero.Await(), kOutput) << zero.output();
  EXPECT_EQ(one.Await(), kOutput) << one.output();
  EXPECT_THAT(one.output(), AllOf(HasSubstr("rank 0"), HasSubstr("summary.json")));
}

// What another rank has recorded, which takes a second or so to be merged.
void WriteLongTrace(const std::string& folder, Rank rank) {
  constexpr int64_t kRecords = 1'000'000;
  NodeTrace trace{.rank = rank};
  for (int64_t i = 0; i < kRecords; ++i) {
    trace.records.push_back(
        {.begin = 2 * i, .end = 2 * i + 1, .round = i, .kind = TraceKind::kGradient});
  }
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(WriteNodeTrace(NodeTracePath(folder), trace).ok());
}

// Rank 0 dies between the results and the announcement of the end: it is at its trace. Nobody ends
// well whom nobody told, and the results that are there stay.
TEST(Cluster, ARankZeroThatDiesAfterItsResultsLeavesThem) {
  const ScratchFolder folder;
  const int port = FreePort();
  const std::vector<std::string> flags = {"--model=phantom:10kB", "--compute=5ms", "--rounds=5",
                                          "--world-size=3", "--trace=" + folder.File("trace")};
  GrapevineProcess zero(Node(0, port, folder.File("run"), flags));
  const std::string config = folder.File("run/config.textproto");
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(config); })) << zero.output();
  WriteLongTrace(folder.File("run/node-1"), 1);
  GrapevineProcess one(Node(1, port, folder.File("run-1"), flags));
  GrapevineProcess two(Node(2, port, folder.File("run-2"), flags));
  const std::string summary = folder.File("run/summary.json");
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(summary); })) << zero.output();
  zero.Signal(SIGKILL);
  EXPECT_EQ(zero.Await(), 128 + SIGKILL);
  for (GrapevineProcess* node : {&one, &two}) {
    EXPECT_EQ(node->Await(), kPeerLost) << node->output();
    EXPECT_THAT(node->output(), ContainsRegex("rank 0 .the coordinator at 127.0.0.1:[0-9]+. died: "
                                              "its connection broke"));
  }
  EXPECT_THAT(FileText(summary), HasSubstr("\"stopped\": \"finished\""));
}

// Rank 0 of three is told to end while rank 2 is not there.
TEST(Cluster, AnInterruptWhileNodesGatherIsHeardByTheGathered) {
  const ScratchFolder folder;
  const int port = FreePort();
  const std::vector<std::string> flags = With(kShortRun, "--world-size=3");
  GrapevineProcess zero(Node(0, port, folder.File("run"), flags));
  GrapevineProcess one(Node(1, port, folder.File("run"), flags));
  ASSERT_TRUE(zero.AwaitOutput("waiting for 1 of 3 nodes: rank 2 is missing")) << zero.output();
  zero.Signal(SIGTERM);
  EXPECT_EQ(zero.Await(), 128 + SIGTERM) << zero.output();
  EXPECT_EQ(one.Await(), 128 + SIGTERM) << one.output();
  EXPECT_THAT(one.output(), HasSubstr("rank 0: terminated (SIGTERM)"));
}

TEST(Cluster, ARankZeroThatCannotBeginTellsWhoWaitsForIt) {
  const ScratchFolder folder;
  const int port = FreePort();
  std::filesystem::create_directories(folder.File("run"));
  folder.Write("run/precious", "");
  GrapevineProcess one(Node(1, port, folder.File("run-1"), kShortRun));
  GrapevineProcess zero(Node(0, port, folder.File("run"), kShortRun));
  EXPECT_EQ(zero.Await(), kOutput) << zero.output();
  EXPECT_EQ(one.Await(), kOutput) << one.output();
  EXPECT_THAT(one.output(),
              HasSubstr("rank 0: " + folder.File("run") +
                        " exists and is not a run directory (it has no config.textproto); choose "
                        "another --out"));
}

TEST(Cluster, AFullDiskOfOneNodeEndsTheRun) {
  const ScratchFolder folder;
  const int port = FreePort();
  std::filesystem::create_directories(folder.File("full/node-1"));
  std::filesystem::create_symlink("/dev/full", folder.File("full/node-1/metrics.jsonl"));
  GrapevineProcess zero(Node(0, port, folder.File("run"), kLongRun));
  GrapevineProcess one(Node(1, port, folder.File("full"), kLongRun));
  EXPECT_EQ(one.Await(), kOutput) << one.output();
  EXPECT_THAT(one.output(), AllOf(HasSubstr(folder.File("full/node-1/metrics.jsonl")),
                                  HasSubstr("No space left on device")));
  EXPECT_EQ(zero.Await(), kOutput);
  EXPECT_THAT(zero.output(), AllOf(HasSubstr("rank 1"), HasSubstr("No space left on device")));
}

// Its writes do not come back. The node trains on meanwhile, says which file it is, and is gone.
TEST(Cluster, AStalledDiskOfOneNodeEndsTheRunByTheFilesName) {
  const ScratchFolder folder;
  const int port = FreePort();
  std::filesystem::create_directories(folder.File("slow/node-1"));
  const StalledFile stalled(folder.File("slow/node-1/metrics.jsonl"));
  const std::vector<std::string> flags = {"--model=phantom:1MB", "--compute=5ms",
                                          "--rounds=100000",     "--log-every=1",
                                          "--peer-timeout=3s",   "--step-timeout=6s"};
  GrapevineProcess zero(Node(0, port, folder.File("run"), flags));
  GrapevineProcess one(Node(1, port, folder.File("slow"), flags));
  EXPECT_EQ(one.Await(), kOutput) << one.output();
  EXPECT_THAT(one.output(), HasSubstr("cannot write to " + stalled.path() +
                                      ": its disk has taken "
                                      "nothing for "));
  EXPECT_EQ(zero.Await(), kOutput) << zero.output();
  EXPECT_THAT(zero.output(), AllOf(HasSubstr("rank 1"), HasSubstr(stalled.path())));
}

// Its thread that trains is the one that the disk keeps.
TEST(Cluster, ADiskThatStallsUnderARecordingEndsTheRunByTheFilesName) {
  const ScratchFolder folder;
  const int port = FreePort();
  std::filesystem::create_directories(folder.File("slow/node-1"));
  const StalledFile stalled(folder.File("slow/node-1/events.rec"));
  const std::vector<std::string> flags = {
      "--model=softmax",  "--data=synthetic:train=512:test=100",   "--eval-every=1000",
      "--rounds=1000000", "--record=" + folder.File("events.rec"), "--peer-timeout=3s",
      "--step-timeout=6s"};
  GrapevineProcess zero(Node(0, port, folder.File("run"), flags));
  GrapevineProcess one(Node(1, port, folder.File("slow"), flags));
  EXPECT_EQ(one.Await(), kOutput) << one.output();
  EXPECT_THAT(one.output(),
              HasSubstr("cannot write to " + stalled.path() + ": its disk has taken"));
  EXPECT_EQ(zero.Await(), kOutput) << zero.output();
  EXPECT_THAT(zero.output(), AllOf(HasSubstr("rank 1"), HasSubstr(stalled.path())));
}

TEST(Cluster, OffLoopbackPlainTextMustBeAskedFor) {
  const Ended ended =
      RunGrapevine(Node(0, FreePort(), "unused", With(kShortRun, "--bind=0.0.0.0:0")));
  EXPECT_EQ(ended.exit_code, kUsage) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("--insecure"), HasSubstr("--tls-ca")));
}

TEST(Cluster, ATokenDoesNotReplaceEncryption) {
  const ScratchFolder folder;
  const std::string token = "--token-file=" + folder.Write("token", "a-token-of-this-run");
  const Ended ended = RunGrapevine(
      Node(0, FreePort(), folder.File("run"), With(With(kShortRun, token), "--bind=0.0.0.0:0")));
  EXPECT_EQ(ended.exit_code, kUsage) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("listening on 0.0.0.0 without encryption is refused"));
  EXPECT_FALSE(std::filesystem::exists(folder.File("run")));
  const Ended dry = RunGrapevine(
      Node(0, FreePort(), folder.File("run"), {"--dry-run", token, "--bind=0.0.0.0:0"}));
  EXPECT_EQ(dry.exit_code, kUsage) << dry.output;
}

TEST(Cluster, OffLoopbackATokenMustBeGivenOrWaived) {
  const ScratchFolder folder;
  std::vector<std::string> flags = kShortRun;
  for (const char* flag : {"--tls-ca=ca", "--tls-cert=cert", "--tls-key=key"})
    flags.push_back(flag);
  for (const char* off : {"--bind=0.0.0.0:0", "--master-addr=192.0.2.1"}) {
    const Ended ended = RunGrapevine(Node(1, FreePort(), folder.File("run"), With(flags, off)));
    EXPECT_EQ(ended.exit_code, kUsage) << ended.output;
    EXPECT_THAT(ended.output, AllOf(HasSubstr("has no token"), HasSubstr("--token-file=FILE"),
                                    HasSubstr("GRAPEVINE_TOKEN"), HasSubstr("--insecure")));
  }
}

TEST(Cluster, ATokenIsKeptAndOnlyItsSourceIsTold) {
  const ScratchFolder folder;
  const std::string secret = "a-secret-that-nobody-may-print";
  const std::string flag = "--token-file=" + folder.Write("token", secret + "\n");
  const Ended dry = RunGrapevine(
      Node(0, FreePort(), folder.File("run"), With(With(kShortRun, flag), "--dry-run")));
  EXPECT_EQ(dry.exit_code, 0) << dry.output;
  EXPECT_THAT(dry.output, AllOf(HasSubstr("token: " + flag), Not(HasSubstr(secret))));

  const int port = FreePort();
  GrapevineProcess zero(Node(0, port, folder.File("run"), With(kShortRun, flag)));
  // Neither none nor another one will do.
  const std::string other = "--token-file=" + folder.Write("other", "another-secret-altogether");
  for (const auto& flags : {kShortRun, With(kShortRun, other)}) {
    const Ended outsider = RunGrapevine(Node(1, port, folder.File("other-run"), flags));
    EXPECT_EQ(outsider.exit_code, kRendezvous) << outsider.output;
    EXPECT_THAT(outsider.output, HasSubstr("refuses this node"));
  }
  GrapevineProcess one(Node(1, port, folder.File("run"), With(kShortRun, flag)));
  EXPECT_EQ(one.Await(), 0) << one.output();
  EXPECT_EQ(zero.Await(), 0) << zero.output();
  EXPECT_THAT(zero.output(), Not(HasSubstr(secret)));
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder.File("run"))) {
    if (!file.is_regular_file()) continue;
    EXPECT_THAT(FileText(file.path()), Not(HasSubstr(secret))) << file.path();
  }
}

// Flags of TLS for all nodes of a command: {rank} is each node's own.
std::vector<std::string> TlsFlags(const ScratchFolder& folder) {
  return {"--tls-ca=" + folder.File("tls/ca.pem"),
          "--tls-cert=" + folder.File("tls/node-{rank}.pem"),
          "--tls-key=" + folder.File("tls/node-{rank}.key")};
}

TEST(Cluster, NodesTalkTls) {
  if (!CanMakeCertificates()) GTEST_SKIP() << "openssl is missing";
  const ScratchFolder folder;
  ASSERT_TRUE(MakeCertificates(folder.File("tls"), "run-1", 2, "IP:127.0.0.1"));
  std::vector<std::string> flags = kShortRun;
  for (const std::string& flag : TlsFlags(folder)) flags.push_back(flag);
  const int port = FreePort();
  GrapevineProcess zero(Node(0, port, folder.File("run"), flags));
  const Ended outsider =
      RunGrapevine(Node(1, port, folder.File("run"), With(kShortRun, "--rendezvous-timeout=1s")));
  EXPECT_EQ(outsider.exit_code, kRendezvous) << outsider.output;
  GrapevineProcess one(Node(1, port, folder.File("run"), flags));
  EXPECT_EQ(one.Await(), 0) << one.output();
  EXPECT_EQ(zero.Await(), 0) << zero.output();
}

// Certificates name ranks, and no addresses.
TEST(Cluster, NodesAreTheRanksOfTheirCertificates) {
  if (!CanMakeCertificates()) GTEST_SKIP() << "openssl is missing";
  const ScratchFolder folder;
  ASSERT_TRUE(MakeCertificates(folder.File("tls"), "run-1", 3));
  std::vector<std::string> flags = With(kShortRun, "--tls-identity=run-1");
  for (const std::string& flag : TlsFlags(folder)) flags.push_back(flag);
  const int port = FreePort();
  GrapevineProcess zero(Node(0, port, folder.File("run"), flags));
  const Ended mistaken =
      RunGrapevine(Node(1, port, folder.File("run"),
                        With(With(flags, "--tls-cert=" + folder.File("tls/node-2.pem")),
                             "--tls-key=" + folder.File("tls/node-2.key"))));
  EXPECT_EQ(mistaken.exit_code, kInput) << mistaken.output;
  EXPECT_THAT(mistaken.output, HasSubstr("DNS:rank-1.run-1 is not in its subjectAltName"));
  GrapevineProcess one(Node(1, port, folder.File("run"), flags));
  EXPECT_EQ(one.Await(), 0) << one.output();
  EXPECT_EQ(zero.Await(), 0) << zero.output();
}

TEST(Cluster, AnIdentityNeedsCertificates) {
  const Ended ended =
      RunGrapevine(Node(0, FreePort(), "unused", With(kShortRun, "--tls-identity=run-1")));
  EXPECT_EQ(ended.exit_code, kUsage) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("there are no certificates to name ranks without --tls-ca"));
}

TEST(Cluster, AMissingCertificateIsNamed) {
  const ScratchFolder folder;
  const Ended ended =
      RunGrapevine(Node(0, FreePort(), folder.File("run"),
                        With(With(With(kShortRun, "--tls-ca=" + folder.File("ca.pem")),
                                  "--tls-cert=" + folder.File("node.pem")),
                             "--tls-key=" + folder.File("node.key"))));
  EXPECT_EQ(ended.exit_code, kInput) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr(folder.File("ca.pem")));
}

}  // namespace
}  // namespace grapevine::testing
