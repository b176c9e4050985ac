#include <gtest/gtest.h>
#include <signal.h>

#include "system/file_descriptor.h"

namespace grapevine {
namespace {

TEST(SignalDescriptor, ReadsWhatWasSent) {
  const auto signals = SignalDescriptor::Open({SIGUSR1, SIGUSR2});
  ASSERT_TRUE(signals.ok()) << signals.status();
  EXPECT_EQ((*signals)->Read(), std::nullopt);
  raise(SIGUSR2);
  EXPECT_EQ((*signals)->Read(), SIGUSR2);
  EXPECT_EQ((*signals)->Read(), std::nullopt);
}

// Unblocked, they would end this process.
TEST(SignalDescriptor, DropsWhatNobodyReads) {
  {
    const auto signals = SignalDescriptor::Open({SIGUSR1});
    raise(SIGUSR1);
  }
  sigset_t pending;
  ASSERT_EQ(sigpending(&pending), 0);
  EXPECT_EQ(sigismember(&pending, SIGUSR1), 0);
}

// As Ctrl-C at the end of one run of a sweep.
TEST(SignalDescriptor, LeavesToAnOuterOneWhatItHasNotRead) {
  const auto outer = SignalDescriptor::Open({SIGUSR1});
  {
    const auto inner = SignalDescriptor::Open({SIGUSR1, SIGUSR2});
    raise(SIGUSR1);
    raise(SIGUSR2);
  }
  EXPECT_EQ((*outer)->Read(), SIGUSR1);
}

}  // namespace
}  // namespace grapevine
