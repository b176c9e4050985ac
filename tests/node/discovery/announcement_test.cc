#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "node/discovery/store_discovery.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const CoordinatorAnnouncement kAnnouncement = {
    .run_id = "5eed", .addresses = {{"node1", 41234}, {"fd00::7", 41234}}, .since = 1795451020};

TEST(Announcement, IsReadAsItWasWritten) {
  for (const RunToken& token : {RunToken(), RunToken("0123456789abcdef")}) {
    const auto read = DecodeAnnouncement(EncodeAnnouncement(kAnnouncement, token), token);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->run_id, "5eed");
    EXPECT_EQ(read->addresses, kAnnouncement.addresses);
    EXPECT_EQ(AnnouncementText(*read),
              "node1:41234, [fd00::7]:41234 (since 2026-11-23 16:23:40 UTC)");
  }
}

TEST(Announcement, WhoHasNotTheTokenCannotForgeOne) {
  const RunToken token("0123456789abcdef");
  CoordinatorAnnouncement forged = kAnnouncement;
  std::string bytes = EncodeAnnouncement(kAnnouncement, token);
  const size_t port = bytes.find("41234");
  ASSERT_NE(port, std::string::npos);
  bytes[port] = '5';
  for (const std::string& text : {bytes, EncodeAnnouncement(forged, RunToken()),
                                  EncodeAnnouncement(forged, RunToken("another one's ...."))}) {
    EXPECT_THAT(std::string(DecodeAnnouncement(text, token).status().message()),
                HasSubstr("does not show the run's token"));
  }
}

TEST(Announcement, WhatIsNoneIsRefused) {
  std::vector<CoordinatorAnnouncement> wrong(8, kAnnouncement);
  wrong[0].run_id = "";
  wrong[1].run_id = std::string(65, 'a');
  wrong[2].run_id = "a/b";
  wrong[3].addresses.clear();
  wrong[4].addresses[0].port = 0;
  wrong[5].addresses[0].host = "0.0.0.0";
  wrong[6].addresses.assign(17, {"node1", 1});
  wrong[7].since = -1;
  std::vector<std::string> texts = {"", "garbage", std::string(1000, '\xff')};
  for (const CoordinatorAnnouncement& one : wrong) {
    texts.push_back(EncodeAnnouncement(one, RunToken()));
  }
  for (const std::string& text : texts) {
    EXPECT_EQ(DecodeAnnouncement(text, RunToken()).status().message(),
              "is no announcement of a rank 0");
  }
}

TEST(Announcement, NamesAllAddressesOfAMachineThatListensOnAll) {
  EXPECT_THAT(AnnouncedAddresses({"10.0.0.1", 1}, {"node1"}),
              ElementsAre(HostAddress{"10.0.0.1", 1}));
  EXPECT_THAT(
      AnnouncedAddresses({"", 1}, {"node1", "127.0.0.1", "10.0.0.1", "::1", "fd00::7",
                                   "fe80::1%eth0", "no name", ""}),
      ElementsAre(HostAddress{"node1", 1}, HostAddress{"10.0.0.1", 1}, HostAddress{"fd00::7", 1}));
  EXPECT_THAT(AnnouncedAddresses({"", 1}, {"127.0.0.1"}), ElementsAre(HostAddress{"127.0.0.1", 1}));
  EXPECT_THAT(AnnouncedAddresses({"", 1}, std::vector<std::string>(100, "node1")), SizeIs(16));
}

}  // namespace
}  // namespace grapevine
