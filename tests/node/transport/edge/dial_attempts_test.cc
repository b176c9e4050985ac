#include <gtest/gtest.h>

#include "base/status.h"
#include "node/transport/edge/reconnection.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;

TEST(DialAttempts, OneThatFailedIsRepeatedOnce) {
  DialAttempts attempts(2, "node3:29500", milliseconds(1000));
  EXPECT_FALSE(*attempts.Tick(milliseconds(100)));  // the first is under way
  EXPECT_EQ(attempts.Describe(), "rank 2 (node3:29500: no answer yet)");
  attempts.Failed(absl::UnavailableError("refused"));
  EXPECT_EQ(attempts.Describe(), "rank 2 (node3:29500: refused)");
  EXPECT_TRUE(*attempts.Tick(milliseconds(100)));
  EXPECT_FALSE(*attempts.Tick(milliseconds(100)));
}

TEST(DialAttempts, WhenTimeIsUpTheLastErrorIsTold) {
  DialAttempts attempts(2, "node3:29500", milliseconds(200));
  attempts.Failed(absl::UnavailableError("connection refused"));
  EXPECT_TRUE(*attempts.Tick(milliseconds(100)));
  const absl::Status why = attempts.Tick(milliseconds(100)).status();
  EXPECT_EQ(why.message(),
            "rank 2 (node3:29500) could not be reached within 0.2 s (--rendezvous-timeout): "
            "connection refused; is its port open to this host?");
  EXPECT_EQ(FailureOf(why), Failure::kRendezvous);
}

TEST(DialAttempts, APeerThatNeverAnswersIsGivenUp) {
  DialAttempts attempts(2, "node3:29500", milliseconds(200));
  EXPECT_FALSE(*attempts.Tick(milliseconds(100)));
  EXPECT_EQ(attempts.Tick(milliseconds(100)).status().message(),
            "rank 2 (node3:29500) could not be reached within 0.2 s (--rendezvous-timeout): no "
            "answer; is its port open to this host?");
}

}  // namespace
}  // namespace grapevine
