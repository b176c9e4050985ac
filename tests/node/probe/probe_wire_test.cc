#include "node/probe/probe_wire.h"

#include <gtest/gtest.h>

#include <string>

namespace grapevine {
namespace {

using std::chrono::milliseconds;

const RunToken kToken("sixteen letters.");
const RunToken kOther("sixteen others..");

TEST(ProbeWire, AHelloIsForOneConnectionAndToken) {
  const std::string nonce = DrawProbeNonce(), another = DrawProbeNonce();
  EXPECT_NE(nonce, another);
  const ProbeHello hello{
      .kind = ProbeKind::kSink, .duration = milliseconds(1500), .bytes = 7'000'000'000};
  std::string bytes = EncodeHello(kToken, nonce, hello);
  ASSERT_EQ(bytes.size(), kProbeHelloBytes);
  EXPECT_EQ(DecodeHello(kToken, nonce, bytes), hello);
  EXPECT_FALSE(DecodeHello(kToken, another, bytes)) << "replayed";
  EXPECT_FALSE(DecodeHello(kOther, nonce, bytes));
  EXPECT_FALSE(DecodeHello(RunToken(), nonce, bytes)) << "no token is no reason to trust";
  EXPECT_FALSE(DecodeHello(kToken, nonce, bytes.substr(1)));
  for (size_t byte = 0; byte < bytes.size(); ++byte) {
    bytes[byte] = static_cast<char>(bytes[byte] ^ 1);
    EXPECT_FALSE(DecodeHello(kToken, nonce, bytes)) << byte;
    bytes[byte] = static_cast<char>(bytes[byte] ^ 1);
  }
}

TEST(ProbeWire, NobodyMayWantMoreThanADoorGrants) {
  const std::string nonce = DrawProbeNonce();
  const auto accepted = [&](const ProbeHello& hello) {
    return DecodeHello(kToken, nonce, EncodeHello(kToken, nonce, hello)).has_value();
  };
  EXPECT_TRUE(accepted({ProbeKind::kEcho, kLongestProbe, kLargestProbe}));
  EXPECT_FALSE(accepted({ProbeKind::kEcho, kLongestProbe + milliseconds(1), 1}));
  EXPECT_FALSE(accepted({ProbeKind::kSink, milliseconds(1), kLargestProbe + 1}));
  EXPECT_FALSE(accepted({static_cast<ProbeKind>(3), milliseconds(1), 1}));
}

TEST(ProbeWire, AWelcomeSaysWhichHost) {
  const std::string nonce = DrawProbeNonce();
  const std::string bytes = EncodeWelcome(kToken, nonce, 70000);
  ASSERT_EQ(bytes.size(), kProbeWelcomeBytes);
  EXPECT_EQ(DecodeWelcome(kToken, nonce, bytes), 70000u);
  EXPECT_FALSE(DecodeWelcome(kOther, nonce, bytes));
  EXPECT_FALSE(DecodeWelcome(kToken, DrawProbeNonce(), bytes));
  // What a caller says is no welcome, though it has the same nonce.
  EXPECT_FALSE(
      DecodeWelcome(kToken, nonce, EncodeHello(kToken, nonce, {}).substr(0, kProbeWelcomeBytes)));
}

TEST(ProbeWire, CountsComeBack) {
  const SinkCount count{.bytes = uint64_t{1} << 63, .time = std::chrono::nanoseconds(12345678901)};
  ASSERT_EQ(EncodeCount(count).size(), kSinkCountBytes);
  EXPECT_EQ(DecodeCount(EncodeCount(count)), count);
}

}  // namespace
}  // namespace grapevine
