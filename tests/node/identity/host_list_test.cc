#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/identity/identity.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Write(const std::string& text) {
  const std::string path = ::testing::TempDir() + "/hosts";
  std::ofstream(path) << text;
  return path;
}

TEST(Hostfile, ReadsTheFormsOfOthers) {
  const auto slots =
      ReadHostfile(Write("# cluster\n\nnode1 slots=2 max_slots=4\r\nnode2:2   # two\nnode3:29500\n"
                         "[fd00::7]:4000 slots=1\n\tnode4\n"));
  ASSERT_TRUE(slots.ok()) << slots.status();
  EXPECT_THAT(*slots,
              ElementsAre(HostAddress{"node1", 0}, HostAddress{"node1", 0}, HostAddress{"node2", 0},
                          HostAddress{"node2", 0}, HostAddress{"node3", 29500},
                          HostAddress{"fd00::7", 4000}, HostAddress{"node4", 0}));
}

TEST(Hostfile, AnIpv6AddressNeedsNoPort) {
  const auto slots = ReadHostfile(Write("[::1] slots=2\n[fd00::7]\n"));
  ASSERT_TRUE(slots.ok()) << slots.status();
  EXPECT_THAT(*slots,
              ElementsAre(HostAddress{"::1", 0}, HostAddress{"::1", 0}, HostAddress{"fd00::7", 0}));
}

TEST(Hostfile, MayBeginWithAByteOrderMark) {
  const auto slots = ReadHostfile(Write("\xEF\xBB\xBFnode1\n"));
  ASSERT_TRUE(slots.ok()) << slots.status();
  EXPECT_THAT(*slots, ElementsAre(HostAddress{"node1", 0}));
}

TEST(Hostfile, MaySayTheSameSlotsTwice) {
  const auto slots = ReadHostfile(Write("a:2 slots=2\n"));
  ASSERT_TRUE(slots.ok()) << slots.status();
  EXPECT_EQ(slots->size(), 2);
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
      {"b\nhost:2 slots=3\n", ":2: \"slots=3\" contradicts \"host:2\"; leave one out"},
      {"a slots=2 slots=3\n", ":1: \"slots=3\" contradicts \"slots=2\"; leave one out"},
      {"a:2 max_slots=4 slots=3\n", ":1: \"slots=3\" contradicts \"a:2\"; leave one out"},
      {"a\n\xEF\xBB\xBF"
       "b\n",
       "b\": the host is not a name or an IP address"},
      {"[::1]x]\n", ":1: address \"[::1]x]\""},
      {"# nothing\n", "names no host"},
      {"node1\nalice@node2 slots=2\n", ":2: \"alice@node2\" names a user"},
      {"node1\n-oProxyCommand=sh\n", ":2: address \"-oProxyCommand=sh\": no host's name begins"},
      {"a/b\n", ":1: address \"a/b\": the host is not a name or an IP address"},
  };
  for (const auto& [text, message] : cases) {
    const auto slots = ReadHostfile(Write(text));
    EXPECT_EQ(FailureOf(slots.status()), Failure::kInput);
    EXPECT_THAT(std::string(slots.status().message()),
                AllOf(HasSubstr("/hosts"), HasSubstr(message)));
  }
  const auto missing = ReadHostfile("/no/such/hosts");
  EXPECT_EQ(FailureOf(missing.status()), Failure::kInput);
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr("/no/such/hosts"));
}

TEST(HostList, ReadsWhatHostfilesSayInOneLine) {
  const auto slots = ParseHostList("node1:2, node2:29501");
  ASSERT_TRUE(slots.ok()) << slots.status();
  EXPECT_THAT(*slots, ElementsAre(HostAddress{"node1", 0}, HostAddress{"node1", 0},
                                  HostAddress{"node2", 29501}));
  for (const char* list : {"", "a,,b", "a:x", "a b"}) {
    const auto wrong = ParseHostList(list);
    EXPECT_EQ(FailureOf(wrong.status()), Failure::kUsage) << list;
    EXPECT_THAT(std::string(wrong.status().message()), HasSubstr("-H "));
  }
}

TEST(HostList, RefusesWhatIsForSshAlone) {
  const auto user = ParseHostList("user@host");
  EXPECT_EQ(FailureOf(user.status()), Failure::kUsage);
  EXPECT_EQ(
      user.status().message(),
      "-H user@host: \"user@host\" names a user, but nodes find each other by what stands "
      "here: give the host alone, and say who logs in by --remote-shell=\"ssh -l user\" or in "
      "~/.ssh/config");
  const auto option = ParseHostList("node1,-oProxyCommand=sh");
  EXPECT_EQ(FailureOf(option.status()), Failure::kUsage);
  EXPECT_THAT(std::string(option.status().message()),
              HasSubstr("\"-oProxyCommand=sh\": no host's name begins with -"));
}

std::vector<std::string> Expand(const std::string& list) {
  const auto hosts = ExpandSlurmNodelist(list);
  EXPECT_TRUE(hosts.ok()) << hosts.status();
  return hosts.ok() ? *hosts : std::vector<std::string>();
}

TEST(SlurmNodelist, ExpandsAsScontrolDoes) {
  EXPECT_THAT(Expand("alone"), ElementsAre("alone"));
  EXPECT_THAT(Expand("a,b"), ElementsAre("a", "b"));
  EXPECT_THAT(Expand("n[1-3]"), ElementsAre("n1", "n2", "n3"));
  EXPECT_THAT(Expand("n[008-011]"), ElementsAre("n008", "n009", "n010", "n011"));
  EXPECT_THAT(Expand("n[1,5,7-8].x,m2"), ElementsAre("n1.x", "n5.x", "n7.x", "n8.x", "m2"));
  EXPECT_THAT(Expand("r[1-2]n[1-2]"), ElementsAre("r1n1", "r1n2", "r2n1", "r2n2"));
  EXPECT_EQ(Expand("n[0-65535]").size(), kMaxSlurmHosts);
}

TEST(SlurmNodelist, RefusesTheMalformedAndTheEndless) {
  for (const char* list :
       {"", ",", "a,,b", "n[1-3", "n]1[", "n[]", "n[a]", "n[3-1]", "n[1-]", "n[-1]", "n[1-2-3]",
        "n[0-65536]", "n[0-999]x[0-999]", "n[0-99999999999]", "n[0-40000],m[0-40000]"}) {
    const auto hosts = ExpandSlurmNodelist(list);
    EXPECT_EQ(FailureOf(hosts.status()), Failure::kUsage) << list;
    EXPECT_THAT(std::string(hosts.status().message()), HasSubstr("Slurm host list"));
  }
}

}  // namespace
}  // namespace grapevine
