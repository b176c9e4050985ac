#include "cli/terminal/interruption.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.h"
#include "system/mutex.h"

namespace grapevine {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

// What a program is told, in order.
class Calls {
 public:
  Interruption::Call Named(const std::string& name) {
    return [this, name](const absl::Status& why) {
      MutexLock lock(mutex_);
      made_.emplace_back(name, FailureOf(why));
      changed_.NotifyAll();
    };
  }
  std::vector<std::pair<std::string, Failure>> AwaitSome(size_t number) {
    MutexLock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (made_.size() < number && changed_.WaitUntil(mutex_, deadline)) {
    }
    return made_;
  }

 private:
  Mutex mutex_;
  Condition changed_;
  std::vector<std::pair<std::string, Failure>> made_ ABSL_GUARDED_BY(mutex_);
};

using Made = std::vector<std::pair<std::string, Failure>>;

std::unique_ptr<Interruption> Watch(Calls& calls, milliseconds patience, bool launched = false,
                                    milliseconds echo = milliseconds(0)) {
  auto watch = Interruption::Watch(
      calls.Named("interrupt"),
      Interruption::Saving{
          .begin = calls.Named("save"), .patience = patience, .launched = launched, .echo = echo});
  EXPECT_TRUE(watch.ok()) << watch.status();
  return *std::move(watch);
}

TEST(Interruption, LetsAProgramSaveAndThenInterruptsIt) {
  Calls calls;
  const auto watch = Watch(calls, milliseconds(1));
  kill(getpid(), SIGTERM);
  EXPECT_EQ(calls.AwaitSome(2),
            (Made{{"save", Failure::kTerminated}, {"interrupt", Failure::kTerminated}}));
}

TEST(Interruption, SavesAtNoOtherSignal) {
  for (const auto& [signal, failure] :
       {std::pair(SIGINT, Failure::kInterrupted), {SIGHUP, Failure::kTerminated}}) {
    Calls calls;
    const auto watch = Watch(calls, hours(1));
    kill(getpid(), signal);
    EXPECT_EQ(calls.AwaitSome(1), (Made{{"interrupt", failure}}));
  }
}

void AwaitRead(int signal) {
  sigset_t pending;
  do {
    std::this_thread::yield();
    sigpending(&pending);
  } while (sigismember(&pending, signal) == 1);
}

// Ends with the code of the second signal that counts: SIGTERM's, or else that of the SIGINT after
// it.
[[noreturn]] void TerminateTwice(bool launched, milliseconds echo) {
  Calls calls;
  const auto watch = Watch(calls, hours(1), launched, echo);
  kill(getpid(), SIGTERM);
  calls.AwaitSome(1);
  kill(getpid(), SIGTERM);
  AwaitRead(SIGTERM);
  kill(getpid(), SIGINT);
  calls.AwaitSome(2);
  _exit(1);
}

TEST(InterruptionDeathTest, ASecondTerminationEndsAProgramThatSavesAtOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(TerminateTwice(/*launched=*/false, /*echo=*/milliseconds(0)),
              ::testing::ExitedWithCode(143), "");
}

TEST(InterruptionDeathTest, AnEchoOfTheFirstOneCountsForNothing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(TerminateTwice(/*launched=*/false, /*echo=*/hours(1)), ::testing::ExitedWithCode(130),
              "");
}

TEST(InterruptionDeathTest, ASecondTerminationIsForTheLauncherToJudge) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(TerminateTwice(/*launched=*/true, /*echo=*/milliseconds(0)),
              ::testing::ExitedWithCode(130), "");
}

}  // namespace
}  // namespace grapevine
