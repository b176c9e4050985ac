// Ranks find their hosts, and bad placements hear why not.
#include "sim/platform/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/status.h"
#include "sim/platform/platform_request.h"
#include "system/file.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<std::vector<HostId>> Place(const std::string& text, Rank n, Rank hosts,
                                          uint64_t seed = 1) {
  ASSIGN_OR_RETURN(const auto placement, ParsePlacement(text));
  return PlaceRanks(placement, n, **MakePlatform({.network = "switch", .hosts = hosts}), seed);
}

std::string Error(const absl::StatusOr<std::vector<HostId>>& hosts, Failure failure) {
  EXPECT_FALSE(hosts.ok());
  EXPECT_EQ(FailureOf(hosts.status()), failure) << hosts.status();
  return std::string(hosts.status().message());
}

std::string WriteFile(std::string_view text) {
  const std::string path = ::testing::TempDir() + "/ranks";
  EXPECT_TRUE(WriteFileAtomically(path, text).ok());
  return "file:" + path;
}

TEST(PlacementTest, InOrder) {
  EXPECT_THAT(*Place("order", 3, 5), ElementsAre(0, 1, 2));
  EXPECT_THAT(*Place("order:per-host=2", 5, 3), ElementsAre(0, 0, 1, 1, 2));
  EXPECT_EQ(HostsFor(*ParsePlacement("order:per-host=2"), 5), 3);
  EXPECT_EQ(HostsFor(*ParsePlacement("order"), 5), 5);
}

TEST(PlacementTest, ShuffledHostsAreDistinctAndFollowFromTheSeed) {
  std::set<std::vector<HostId>> seen;
  for (const uint64_t seed : testing::Seeds(10)) {
    SCOPED_TRACE(seed);
    const std::vector<HostId> hosts = *Place("shuffled", 20, 30, seed);
    EXPECT_EQ(hosts, *Place("shuffled", 20, 30, seed));
    EXPECT_EQ(std::set<HostId>(hosts.begin(), hosts.end()).size(), 20);
    EXPECT_TRUE(std::ranges::all_of(hosts, [](HostId host) { return host >= 0 && host < 30; }));
    seen.insert(hosts);
  }
  EXPECT_EQ(seen.size(), testing::SeedCount(10));
  const std::vector<HostId> pairs = *Place("shuffled:per-host=2", 20, 10);
  for (int rank = 0; rank < 20; rank += 2) EXPECT_EQ(pairs[rank], pairs[rank + 1]);
}

TEST(PlacementTest, FromAFile) {
  EXPECT_THAT(*Place(WriteFile("# mine\nhost4\nhost0\nhost4\n"), 3, 5), ElementsAre(4, 0, 4));
  EXPECT_THAT(*Place(WriteFile("2 host0\n0 host1 # the first\n1,host3\n"), 3, 5),
              ElementsAre(1, 3, 0));
}

TEST(PlacementTest, WhatCannotBeIsRefused) {
  EXPECT_THAT(Error(Place("sorted", 3, 5), Failure::kUsage),
              HasSubstr("sorted: no such placement; there are order, shuffled and file:PATH"));
  EXPECT_THAT(Error(Place("order:per-host=0", 3, 5), Failure::kUsage), HasSubstr("less than 1"));
  EXPECT_THAT(Error(Place("order:x=1", 3, 5), Failure::kUsage), HasSubstr("unknown option"));
  EXPECT_THAT(Error(Place("file:", 3, 5), Failure::kUsage), HasSubstr("a path is missing"));
  EXPECT_THAT(Error(Place("shuffled", 12, 5), Failure::kUsage),
              HasSubstr("12 ranks need 12 hosts, but switch:bandwidth=1Gbit:latency=50us:"
                        "loopback=80Gbit has 5; run fewer nodes, or more on each host: "
                        "shuffled:per-host=3"));
}

TEST(PlacementTest, BadFilesAreToldTheLine) {
  const auto error = [](std::string_view text) {
    return Error(Place(WriteFile(text), 3, 5), Failure::kInput);
  };
  EXPECT_THAT(error("host0\nhost9\n"),
              HasSubstr("ranks:2: no host of switch:bandwidth=1Gbit:latency=50us:loopback=80Gbit "
                        "is named 'host9'; its first is named 'host0'"));
  EXPECT_THAT(error("host0\nhost1\n"), HasSubstr("ranks: no host for rank 2 of 3; add a line"));
  EXPECT_THAT(error("host0\nhost1\nhost2\nhost3\n"), HasSubstr("ranks:4: rank 3 of 3 nodes"));
  EXPECT_THAT(error("0 host0\n0 host1\n"), HasSubstr("ranks:2: rank 0 a second time"));
  EXPECT_THAT(error("0 host0\nhost1\n"), HasSubstr("ranks:2: some lines begin with a rank"));
  EXPECT_THAT(error("x host0\n"), HasSubstr("ranks:1: 'x' is not a rank"));
  EXPECT_THAT(error("-1 host0\n"), HasSubstr("ranks:1: rank -1 of 3 nodes"));
  EXPECT_THAT(error("0 host0 host1\n"), HasSubstr("ranks:1: more than two fields"));
  EXPECT_THAT(error(""), HasSubstr("no host for rank 0 of 3"));
  EXPECT_THAT(Error(Place("file:" + ::testing::TempDir() + "/nowhere", 3, 5), Failure::kInput),
              HasSubstr("nowhere"));
}

}  // namespace
}  // namespace grapevine
