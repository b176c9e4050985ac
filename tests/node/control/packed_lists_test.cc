// Addresses and members in few bytes: they come out as they went in, and what nobody has packed is
// refused.
#include "tests/node/control/packed_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "random/keyed_random.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> ThereAndBack(const std::vector<std::string>& addresses) {
  control::Roster roster;
  SetAddresses(addresses, &roster);
  return AddressesIn(roster);
}

TEST(AddressList, ComesOutAsItWentIn) {
  for (const std::vector<std::string>& addresses : std::vector<std::vector<std::string>>{
           {},
           {""},
           {"a:1"},
           {"", "a:1", "", "", "b:1"},
           {"aa:1", "aaaa:1", "aa:1", "a:1", "aa:11"},
           {"10.0.0.9:7000", "10.0.0.10:7000", "[::1]:7000", "[::1]:7000"},
           {std::string(300, 'x'), std::string(299, 'x'), std::string(300, 'y')}}) {
    EXPECT_EQ(ThereAndBack(addresses), addresses);
  }
}

TEST(AddressList, OfAnythingComesOutAsItWentIn) {
  for (const uint64_t seed : testing::Seeds(1000)) {
    SCOPED_TRACE(seed);
    KeyedRandom random(seed, Purpose::kPlacement);
    std::vector<std::string> addresses(random.Below(20));
    for (std::string& address : addresses) {
      address.resize(random.Below(6));
      for (char& letter : address) letter = random.Below(2) == 0 ? 'a' : 'b';
    }
    EXPECT_EQ(ThereAndBack(addresses), addresses);
  }
}

TEST(AddressList, OfAClusterIsShort) {
  std::vector<std::string> addresses;
  for (int i = 0; i < 1000; ++i) addresses.push_back(absl::StrCat("node-", i, ".example:29500"));
  EXPECT_LT(PackAddresses(addresses).ByteSizeLong(), 5500);
}

TEST(AddressList, ThatCannotBeIsRefused) {
  const std::vector<std::string> two = {"a:1", "b:1"};
  EXPECT_THAT(UnpackAddresses(PackAddresses(two), 3).status().message(),
              HasSubstr("2 addresses for 3 nodes"));
  const auto refused = [&](auto spoil) {
    control::AddressList list = PackAddresses(two);
    spoil(&list);
    EXPECT_THAT(UnpackAddresses(list, 2).status().message(), HasSubstr("cannot be"));
  };
  for (const int at : {0, 1, 2, 3, 4, 5}) {
    refused([at](control::AddressList* list) { list->set_shape(at, 4000000000u); });
  }
  refused([](control::AddressList* list) { list->set_shape(4, 4); });
  refused([](control::AddressList* list) { list->mutable_own()->push_back('x'); });
  refused([](control::AddressList* list) { list->mutable_own()->clear(); });
}

// Each address may double the one before.
TEST(AddressList, CannotGrowAtEachAddress) {
  control::AddressList list = PackAddresses(std::vector<std::string>{std::string(300, 'x')});
  for (const uint32_t bytes : {300, 0, 101}) list.add_shape(bytes);
  list.mutable_own()->append(101, 'y');
  EXPECT_FALSE(UnpackAddresses(list, 2).ok());
}

TEST(MemberRuns, AreRunsOfRanksThatFollowEachOther) {
  control::View view;
  EXPECT_THAT(MembersIn(view), IsEmpty());
  SetMembers(std::vector<Member>{0, 1, 2, 4, 5, 9}, &view);
  EXPECT_THAT(view.member_runs(), ElementsAre(0, 3, 4, 2, 9, 1));
  EXPECT_THAT(MembersIn(view), ElementsAre(0, 1, 2, 4, 5, 9));
  EXPECT_EQ(CountMembers(view), 6);
  EXPECT_TRUE(MembersOf(view, 10));
  EXPECT_FALSE(MembersOf(view, 9));
}

}  // namespace
}  // namespace grapevine
