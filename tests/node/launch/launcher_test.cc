#include "node/launch/launcher.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr char kChild[] = "tests/node/launch/launcher_child";

struct Line {
  Rank rank;
  bool errors;
  std::string text;
  friend bool operator==(const Line&, const Line&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Line& line) {
    return out << line.rank << (line.errors ? " errors: " : " output: ") << line.text;
  }
};

// One launch of n children in `mode`, and what came of it.
struct Launched {
  explicit Launched(Rank n, const std::string& mode, milliseconds grace = milliseconds(50)) {
    awaited = options.plan.nodes = n;
    options.executable = kChild;
    options.arguments = {"child", mode};
    options.plan.grace = grace;
    options.plan.kill_grace = milliseconds(50);
  }

  absl::Status Run() {
    const LaunchSinks sinks{
        .on_line =
            [this](Rank rank, bool errors, std::string_view text) {
              lines.push_back({rank, errors, std::string(text)});
              if (text != "ready" && text != "held") return;
              if (++ready == awaited && when_ready) when_ready();
            },
        .on_progress = [this](std::string_view line) { progress.emplace_back(line); },
        .on_notice = [this](std::string_view notice) { notices.emplace_back(notice); }};
    const absl::Status status = Launch(options, sinks);
    // Whatever happened, no child is left, not even as a zombie.
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
    return status;
  }

  LaunchOptions options;
  std::function<void()> when_ready;
  int ready = 0;
  int awaited;  // until when_ready is called
  std::vector<Line> lines;
  std::vector<std::string> progress, notices;
};

TEST(Launcher, HandsOutRanksAndRankZerosPort) {
  setenv("GRAPEVINE_BATCH", "7", 1);  // already in the arguments: not for the children
  Launched launched(3, "ok");
  EXPECT_TRUE(launched.Run().ok());
  unsetenv("GRAPEVINE_BATCH");
  EXPECT_THAT(
      launched.lines,
      UnorderedElementsAre(Line{0, false, "rank 0 of 3 local 0 of 3 at 127.0.0.1:0 omp 1"},
                           Line{1, false, "rank 1 of 3 local 1 of 3 at 127.0.0.1:4321 omp 1"},
                           Line{2, false, "rank 2 of 3 local 2 of 3 at 127.0.0.1:4321 omp 1"},
                           Line{0, true, "to errors"}, Line{1, true, "to errors"},
                           Line{2, true, "to errors"}));
  EXPECT_THAT(launched.progress, ElementsAre("{\"round\":1}", "{\"round\":2}"));
}

TEST(Launcher, OneNodeAndPinnedNodesRunToo) {
  Launched one(1, "ok");
  EXPECT_TRUE(one.Run().ok());
  Launched pinned(3, "ok");
  pinned.options.pin_cpus = true;
  EXPECT_TRUE(pinned.Run().ok());
}

TEST(Launcher, AFailureEndsTheOthersAndKeepsItsCode) {
  Launched launched(3, "fail");
  const absl::Status status = launched.Run();
  EXPECT_EQ(FailureOf(status), Failure::kDiverged);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("rank 1"), HasSubstr("exit code 7")));
}

TEST(Launcher, APeerLostIsNotTheCause) {
  // Rank 1's code says that it lost a peer, rank 2's what happened.
  Launched launched(3, "two-codes", milliseconds(1000));
  const absl::Status status = launched.Run();
  EXPECT_EQ(FailureOf(status), Failure::kOutput);
  EXPECT_THAT(std::string(status.message()), HasSubstr("rank 2"));
}

TEST(Launcher, AKilledNodeIsNamedWithItsSignal) {
  Launched launched(4, "kill", milliseconds(1000));
  const absl::Status status = launched.Run();
  EXPECT_EQ(FailureOf(status), Failure::kPeerLost);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("rank 1"), HasSubstr("signal 9, Killed")));
}

TEST(Launcher, AStoppedNodeIsKilledWithoutAGracePeriodAndNamed) {
  Launched launched(3, "stop");
  launched.options.plan.kill_grace = std::chrono::hours(1);  // it cannot hear SIGTERM
  const absl::Status status = launched.Run();
  EXPECT_EQ(FailureOf(status), Failure::kPeerLost);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("rank 1"), HasSubstr("did not end when the others did")));
}

TEST(Launcher, SignalsArePassedOnOnce) {
  const std::pair<int, Failure> cases[] = {{SIGINT, Failure::kInterrupted},
                                           {SIGTERM, Failure::kTerminated},
                                           {SIGHUP, Failure::kTerminated}};
  for (const auto& [signal, failure] : cases) {
    Launched launched(3, "polite", milliseconds(20000));
    launched.when_ready = [signal = signal] { kill(getpid(), signal); };
    const absl::Status status = launched.Run();
    EXPECT_EQ(FailureOf(status), failure);
    EXPECT_THAT(std::string(status.message()), HasSubstr("ended by signal"));
  }
}

TEST(Launcher, ANodeThatIgnoresTheSignalIsKilled) {
  Launched launched(3, "one-deaf");
  launched.when_ready = [] { kill(getpid(), SIGINT); };
  EXPECT_EQ(FailureOf(launched.Run()), Failure::kInterrupted);
}

TEST(Launcher, OneSignalIsFollowedByForceWhereNobodyHearsIt) {
  Launched launched(3, "deaf");
  launched.when_ready = [] { kill(getpid(), SIGTERM); };
  const absl::Status status = launched.Run();
  EXPECT_EQ(FailureOf(status), Failure::kTerminated);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("ended by signal 15"), HasSubstr("ranks 0, 1, 2 had to be killed")));
  EXPECT_THAT(launched.notices,
              UnorderedElementsAre(AllOf(HasSubstr("rank 0 (process"), HasSubstr("within 0.05 s")),
                                   HasSubstr("rank 1 (process"), HasSubstr("rank 2 (process")));
}

TEST(Launcher, AStoppedNodeHearsTheUsersSignal) {
  for (const char* mode : {"all-held", "held-before-port"}) {
    Launched launched(3, mode, milliseconds(60000));
    if (mode == std::string("held-before-port")) launched.awaited = 1;
    launched.when_ready = [] { kill(getpid(), SIGTERM); };
    EXPECT_EQ(FailureOf(launched.Run()), Failure::kTerminated) << mode;
    EXPECT_THAT(launched.notices, ElementsAre()) << mode;
  }
}

TEST(Launcher, ANodeThatStaysStoppedAfterTheUsersSignalIsKilled) {
  Launched launched(3, "all-held-and-deaf");
  launched.when_ready = [] { kill(getpid(), SIGTERM); };
  const absl::Status status = launched.Run();
  EXPECT_EQ(FailureOf(status), Failure::kTerminated);
  EXPECT_THAT(std::string(status.message()), HasSubstr("ranks 0, 1, 2 had to be killed"));
}

TEST(Launcher, ANodeThatIsStoppedAfterTheOthersHaveTrainedIsKilledAndNamed) {
  for (const auto& [mode, rank] : {std::pair("held-first", "rank 0"), {"held-last", "rank 2"}}) {
    Launched launched(3, mode);
    const absl::Status status = launched.Run();
    EXPECT_EQ(FailureOf(status), Failure::kPeerLost);
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(rank), HasSubstr("did not end when the others did")));
    EXPECT_THAT(launched.notices, ElementsAre(AllOf(HasSubstr(rank), HasSubstr("is stopped"))));
  }
}

TEST(Launcher, ASecondSignalKills) {
  Launched launched(3, "deaf", milliseconds(60000));
  launched.when_ready = [] {
    kill(getpid(), SIGINT);
    kill(getpid(), SIGTERM);
  };
  EXPECT_EQ(FailureOf(launched.Run()), Failure::kInterrupted);
}

TEST(Launcher, OutputIsWholeAndLinesAreBounded) {
  Launched launched(3, "flood");
  EXPECT_TRUE(launched.Run().ok());
  for (Rank rank = 0; rank < 3; ++rank) {
    std::vector<std::string> lines;
    for (const Line& line : launched.lines) {
      if (line.rank == rank) lines.push_back(line.text);
    }
    ASSERT_EQ(lines.size(), 20000u + 3 + 1);
    for (int i = 0; i < 20000; ++i) ASSERT_EQ(lines[i], "line " + std::to_string(i));
    EXPECT_EQ(lines[20000] + lines[20001] + lines[20002], std::string(40000, 'x'));
    EXPECT_EQ(lines.back(), "last without break");
  }
}

TEST(Launcher, RankZeroMustReportAPort) {
  Launched silent(2, "no-port");
  silent.options.plan.rendezvous_timeout = milliseconds(1000);
  const absl::Status late = silent.Run();
  EXPECT_EQ(FailureOf(late), Failure::kRendezvous);
  EXPECT_THAT(std::string(late.message()),
              AllOf(HasSubstr("did not listen within 1 s"), HasSubstr("--rendezvous-timeout")));

  const absl::Status bad = Launched(2, "bad-port").Run();
  EXPECT_THAT(std::string(bad.message()), HasSubstr("\"http\" as its port"));

  const absl::Status early = Launched(2, "early-end").Run();
  EXPECT_THAT(std::string(early.message()), HasSubstr("ended before it reported its port"));
}

TEST(Launcher, AProgramThatCannotRunIsNamed) {
  Launched launched(2, "ok");
  launched.options.executable = "/no/such/program";
  EXPECT_THAT(std::string(launched.Run().message()),
              AllOf(HasSubstr("/no/such/program"), HasSubstr("No such file")));
}

TEST(Launcher, NoChildSurvivesAKilledLauncher) {
  // Orphans come to this process, which can then wait for their ends.
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t launcher = fork();
  if (launcher == 0) {
    Launched launched(3, "deaf");
    launched.when_ready = [&] { (void)!write(ends[1], "r", 1); };
    (void)launched.Run();
    _exit(0);
  }
  char ready;
  ASSERT_EQ(read(ends[0], &ready, 1), 1);
  ASSERT_EQ(kill(launcher, SIGKILL), 0);
  int status;
  ASSERT_EQ(waitpid(launcher, &status, 0), launcher);
  for (int orphan = 0; orphan < 3; ++orphan) {
    ASSERT_GT(waitpid(-1, &status, 0), 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  }
  EXPECT_EQ(waitpid(-1, &status, WNOHANG), -1);
  close(ends[0]);
  close(ends[1]);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace grapevine
