#include <fstream>

#include "base/failure.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/identity/host_list.h"

namespace grapevine {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string Write(const std::string& text) {
  const std::string path = testing::TempDir() + "/hosts";
  std::ofstream(path) << text;
  return path;
}

TEST(Hostfile, ReadsTheFormsOfOthers) {
  const auto places =
      ReadHostfile(Write("# cluster\n\nnode1 slots=2 max_slots=4\r\nnode2:2   # two\nnode3:29500\n"
                         "[fd00::7]:4000 slots=1\n\tnode4\n"));
  ASSERT_TRUE(places.ok()) << places.status();
  EXPECT_THAT(*places,
              ElementsAre(HostAddress{"node1", 0}, HostAddress{"node1", 0}, HostAddress{"node2", 0},
                          HostAddress{"node2", 0}, HostAddress{"node3", 29500},
                          HostAddress{"fd00::7", 4000}, HostAddress{"node4", 0}));
}

TEST(Hostfile, NamesFileLineAndFault) {
  const std::pair<const char*, const char*> cases[] = {
      {"a\nb slots=0\n", ":2: \"slots=0\""},
      {"a slots=x\n", ":1: \"slots=x\""},
      {"a cores=2\n", "unknown option \"cores=2\""},
      {"a:\n", ":1: address \"a:\""},
      {"a:0\n", "neither a port nor slots may be 0"},
      {":2000\n", "has no host"},
      {"a:2000 slots=2\n", "cannot share one port among 2 slots"},
      {"a:2000\nb\na:2000\n", ":3: a:2000 appears twice"},
      {"a slots=65535\nb slots=2\n", ":2: more than 65536 nodes"},
      {"# nothing\n", "names no host"},
  };
  for (const auto& [text, message] : cases) {
    const auto places = ReadHostfile(Write(text));
    EXPECT_EQ(FailureOf(places.status()), Failure::kInput);
    EXPECT_THAT(std::string(places.status().message()),
                AllOf(HasSubstr("/hosts"), HasSubstr(message)));
  }
  const auto missing = ReadHostfile("/no/such/hosts");
  EXPECT_EQ(FailureOf(missing.status()), Failure::kInput);
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr("/no/such/hosts"));
}

TEST(Hostfile, ReadsLists) {
  const auto places = ParseHostList("node1:2, node2:29501");
  ASSERT_TRUE(places.ok()) << places.status();
  EXPECT_THAT(*places, ElementsAre(HostAddress{"node1", 0}, HostAddress{"node1", 0},
                                   HostAddress{"node2", 29501}));
  for (const char* list : {"", "a,,b", "a:x", "a b"}) {
    const auto wrong = ParseHostList(list);
    EXPECT_EQ(FailureOf(wrong.status()), Failure::kUsage) << list;
    EXPECT_THAT(std::string(wrong.status().message()), HasSubstr("-H "));
  }
}

}  // namespace
}  // namespace grapevine
