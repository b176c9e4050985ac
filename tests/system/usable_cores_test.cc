#include "system/usable_cores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "system/control_group.h"
#include "tests/model/scratch_folder.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;

TEST(ControlGroups, OfVersion2) {
  EXPECT_THAT(ControlGroups("cpu", "0::/slice/service\n", "/r"),
              ElementsAre("/r/slice/service/", "/r/slice/", "/r/"));
  EXPECT_THAT(ControlGroups("cpu", "0::/\n", "/r"), ElementsAre("/r/"));
}

TEST(ControlGroups, OfVersion1) {
  EXPECT_THAT(
      ControlGroups("cpu", "5:memory:/m\n4:cpu,cpuacct:/docker/17\n1:name=systemd:/s\n", "/r"),
      ElementsAre("/r/cpu/docker/17/", "/r/cpu/docker/", "/r/cpu/"));
}

TEST(ControlGroups, NonsenseIsNone) {
  for (const char* text : {"", "0", "0:", "0::", "0::x", "::", "\n\n"}) {
    EXPECT_THAT(ControlGroups("cpu", text, "/r"), ElementsAre()) << text;
  }
}

class CoresGrantedTest : public ::testing::Test {
 protected:
  std::string Group(const std::string& name) const {
    const std::string folder = folder_.File(name) + "/";
    std::filesystem::create_directories(folder);
    return folder;
  }
  std::optional<int> With(const std::string& cpu_max) const {
    std::ofstream(Group("group") + "cpu.max") << cpu_max;
    return CoresGranted({Group("group")});
  }

  const ScratchFolder folder_;
};

TEST_F(CoresGrantedTest, ByVersion2) {
  EXPECT_EQ(With("200000 100000\n"), 2);
  EXPECT_EQ(With("150000 100000\n"), 2) << "rounded up";
  EXPECT_EQ(With("1000 100000\n"), 1);
  for (const char* text : {"max 100000\n", "1 0\n", "-1 100000\n", "x\n", ""}) {
    EXPECT_FALSE(With(text)) << text;
  }
}

TEST_F(CoresGrantedTest, ByVersion1) {
  const std::string group = Group("group");
  std::ofstream(group + "cpu.cfs_period_us") << "100000\n";
  std::ofstream(group + "cpu.cfs_quota_us") << "-1\n";
  EXPECT_FALSE(CoresGranted({group}));
  std::ofstream(group + "cpu.cfs_quota_us") << "300000\n";
  EXPECT_EQ(CoresGranted({group}), 3);
}

TEST_F(CoresGrantedTest, TheNarrowestGroupCounts) {
  const std::string inner = Group("outer/inner"), outer = Group("outer");
  std::ofstream(inner + "cpu.max") << "800000 100000\n";
  std::ofstream(outer + "cpu.max") << "200000 100000\n";
  EXPECT_EQ(CoresGranted({inner, folder_.File("missing/"), outer}), 2);
}

TEST(UsableCores, AreThoseOfTheAffinityMask) {
  EXPECT_GE(UsableCores(), 1);
  // A thread of its own: the mask is a thread's.
  std::thread([] {
    cpu_set_t all, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_COUNT(&one) == 0 && CPU_ISSET(core, &all)) CPU_SET(core, &one);
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(UsableCores(), 1);
  }).join();
}

}  // namespace
}  // namespace grapevine
