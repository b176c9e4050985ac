#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <vector>

#include "system/background.h"
#include "system/mutex.h"

namespace grapevine {
namespace {

using std::chrono::steady_clock;

steady_clock::time_point AfterPatience() { return steady_clock::now() + std::chrono::minutes(1); }

TEST(WorkerThread, DoesItsJobsInOrder) {
  std::vector<int> done;
  WorkerThread worker;
  for (int job = 0; job < 10; ++job) worker.Do([&done, job] { done.push_back(job); });
  ASSERT_TRUE(worker.Drain(AfterPatience()));
  EXPECT_EQ(done, std::vector<int>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(WorkerThread, TakesNoSignal) {
  sigset_t blocked;
  sigemptyset(&blocked);
  WorkerThread worker;
  worker.Do([&blocked] { pthread_sigmask(SIG_BLOCK, nullptr, &blocked); });
  ASSERT_TRUE(worker.Drain(AfterPatience()));
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) EXPECT_EQ(sigismember(&blocked, signal), 1);
}

TEST(WorkerThread, SaysThatAJobTakesTooLong) {
  Mutex mutex;
  Condition changed;
  bool go = false;
  WorkerThread worker;
  worker.Do([&] {
    MutexLock lock(mutex);
    while (!go) changed.WaitUntil(mutex, AfterPatience());
  });
  EXPECT_FALSE(worker.Drain(steady_clock::now()));
  {
    MutexLock lock(mutex);
    go = true;
    changed.NotifyAll();
  }
  EXPECT_TRUE(worker.Drain(AfterPatience()));
}

}  // namespace
}  // namespace grapevine
