#include "node/transport/edge/conversation.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "gtest/gtest.h"
#include "node/transport/edge/wire_format.h"
#include "tests/node/transport/transport_harness.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

// A caller's stream at the node that it calls.
class ReceivingEndTest : public ::testing::Test {
 protected:
  absl::Status Hear(const ToReceiver& message) {
    const std::string bytes = Encode(message);
    google::protobuf::io::ArrayInputStream in(bytes.data(), static_cast<int>(bytes.size()));
    return end_.Hear(&in, static_cast<int64_t>(bytes.size()));
  }

  RecordingSink sink_;
  const std::shared_ptr<SinkGate> gate_ = std::make_shared<SinkGate>(&sink_);
  const std::shared_ptr<PeerLink> link_ =
      std::make_shared<PeerLink>(3, 4000, gate_, std::make_shared<CreditDesk>());
  ReceivingEnd end_{{.round = [] { return Round{0}; },
                     .on_hello = [this](const EdgeIdentity&) { end_.AnswerHello({}); },
                     .leave = [] {}}};
};

// A node that has joined the run, but has not begun it, knows no neighbours yet.
TEST_F(ReceivingEndTest, OffersWaitForTheCallersAdmission) {
  ASSERT_TRUE(Hear(EdgeIdentity()).ok());
  for (uint32_t step = 0; step < 3; ++step) {
    const absl::Status heard = Hear(Offer{.tag = {.step = step}, .bytes = 4});
    ASSERT_TRUE(heard.ok()) << heard;
  }
  EXPECT_EQ(sink_.offered(), 0);
  ASSERT_TRUE(end_.Admit(link_).ok());
  EXPECT_EQ(sink_.offered(), 3);
  ASSERT_TRUE(Hear(Offer{.tag = {.step = 3}, .bytes = 4}).ok());
  EXPECT_EQ(sink_.offered(), 4);
}

TEST_F(ReceivingEndTest, OffersThatWaitAreBounded) {
  ASSERT_TRUE(Hear(EdgeIdentity()).ok());
  for (uint32_t step = 0; step < Transport::kMaxQueued; ++step) {
    ASSERT_TRUE(Hear(Offer{.tag = {.step = step}, .bytes = 4}).ok());
  }
  EXPECT_THAT(std::string(Hear(Offer{.tag = {.step = 5000}, .bytes = 4}).message()),
              HasSubstr("offered more than 1024 messages at a time"));
}

TEST_F(ReceivingEndTest, WhatIsWrongWithOffersThatWaitIsFoundOnAdmission) {
  ASSERT_TRUE(Hear(EdgeIdentity()).ok());
  ASSERT_TRUE(Hear(Offer{.tag = {.step = 1}, .bytes = 4}).ok());
  ASSERT_TRUE(Hear(Offer{.tag = {.step = 1}, .bytes = 4}).ok());
  EXPECT_THAT(std::string(end_.Admit(link_).message()),
              HasSubstr("offered channel 0, index 0, step 1 twice"));
  EXPECT_TRUE(end_.admitted()) << "the link is broken, not only the stream";
}

TEST_F(ReceivingEndTest, NothingElseIsTakenBeforeAdmission) {
  ASSERT_TRUE(Hear(EdgeIdentity()).ok());
  EXPECT_THAT(std::string(Hear(Withdrawn{.tag = {}}).message()),
              HasSubstr("before it was admitted"));
}

}  // namespace
}  // namespace grapevine
