// The main function of tests whose suites named Cuda... need a GPU. Where there is none, one case
// says so in the place of all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "kernels/device/device.h"

namespace grapevine {
namespace {

class MissingGpu : public ::testing::Test {
 public:
  explicit MissingGpu(std::string why) : why_(std::move(why)) {}
  void TestBody() override { GTEST_SKIP() << "a GPU is missing: " << why_; }

 private:
  const std::string why_;
};

void LeaveOutWhatNeedsAGpu(const std::string& why) {
  ::testing::RegisterTest("Gpu", "IsThere", nullptr, nullptr, __FILE__, __LINE__,
                          [why]() -> ::testing::Test* { return new MissingGpu(why); });
  std::string filter = GTEST_FLAG_GET(filter);
  filter += filter.find('-') == filter.npos ? "-" : ":";
  GTEST_FLAG_SET(filter, filter + "Cuda*:*/Cuda*");
}

}  // namespace
}  // namespace grapevine

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  const auto gpus = grapevine::FindGpus();
  if (!gpus.ok()) grapevine::LeaveOutWhatNeedsAGpu(std::string(gpus.status().message()));
  return RUN_ALL_TESTS();
}
