#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "system/deadline.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::steady_clock;

TEST(BoundedCall, ReturnsWhenTheCallDoes) {
  BoundedCall calls;
  auto done = std::make_shared<int>(0);
  for (int call = 1; call <= 3; ++call) {
    ASSERT_TRUE(calls.Run([done] { ++*done; }, steady_clock::now() + minutes(1)));
    EXPECT_EQ(*done, call);
  }
}

TEST(BoundedCall, ACallThatHangsIsAbandonedAndTheNextWaitsForIt) {
  auto released = std::make_shared<std::promise<void>>();
  auto order = std::make_shared<std::string>();
  BoundedCall calls;
  EXPECT_FALSE(calls.Run(
      [released, order] {
        released->get_future().wait_for(minutes(1));
        *order += "first ";
      },
      steady_clock::now() + milliseconds(10)));
  EXPECT_FALSE(calls.Run([order] { *order += "never "; }, steady_clock::now() + milliseconds(10)));
  released->set_value();
  EXPECT_TRUE(calls.Run([order] { *order += "second"; }, steady_clock::now() + minutes(1)));
  EXPECT_EQ(*order, "first second");
}

}  // namespace
}  // namespace grapevine
