#include "node/transport/edge/wire_format.h"

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cstring>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/passes/crc32c.h"
#include "kernels/passes/streamed_norm.h"
#include "node/transport/edge/gossip.pb.h"

namespace grapevine {
namespace {

using google::protobuf::io::ArrayInputStream;
using google::protobuf::io::CodedInputStream;
using ::testing::HasSubstr;

const ChunkHeader kHeader{.tag = {.channel = 3, .index = 1000000, .step = 70000},
                          .offset = 5,
                          .size = 11,
                          .total = 16,
                          .crc32c = 0xdeadbeef};
const char kData[] = "eleven byte";

// `bytes` as if it had come in slices of `slice` bytes.
absl::StatusOr<ToReceiver> Decode(const std::string& bytes, int slice, std::string* data) {
  ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()), slice);
  CodedInputStream in(&stream);
  absl::StatusOr<ToReceiver> message = DecodeToReceiver(&in, static_cast<int64_t>(bytes.size()));
  const auto* chunk = message.ok() ? std::get_if<ChunkHeader>(&*message) : nullptr;
  if (chunk != nullptr) {
    data->resize(static_cast<size_t>(chunk->size));
    const auto crc = CopyChunkData(&in, *chunk, reinterpret_cast<std::byte*>(data->data()), 7);
    EXPECT_EQ(*crc, Crc32c(7, data->data(), data->size()));
  }
  return message;
}

std::string WhyNot(const std::string& bytes) {
  std::string data;
  return std::string(Decode(bytes, 1000, &data).status().message());
}

// Whatever slices it comes in.
TEST(WireFormat, TheNormOfAChunkIsTakenWhileItIsCopied) {
  std::vector<float> values(9000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7);
  const int64_t size = std::ssize(values) * int64_t{sizeof(float)};
  for (const int slice : {7, 8192, 100'000}) {
    ArrayInputStream stream(values.data(), static_cast<int>(size), slice);
    CodedInputStream in(&stream);
    std::vector<float> copy(values.size());
    StreamedNorm norm(size);
    const ChunkHeader chunk{.offset = 0, .size = size, .total = size};
    const auto crc = CopyChunkData(&in, chunk, reinterpret_cast<std::byte*>(copy.data()), 0, &norm);
    EXPECT_EQ(*crc, Crc32c(0, values.data(), static_cast<size_t>(size)));
    EXPECT_EQ(copy, values);
    double squares = 0;
    for (const float value : values) squares += value * value;
    EXPECT_EQ(norm.squared(), squares);
  }
}

TEST(WireFormat, AChunkIsPlainProtobuf) {
  gossip::ToReceiver message;
  ASSERT_TRUE(message.ParseFromString(Encode(ToReceiver(kHeader)) + kData));
  const gossip::Chunk& chunk = message.chunk();
  EXPECT_EQ(chunk.tag().channel(), 3u);
  EXPECT_EQ(chunk.tag().index(), 1000000);
  EXPECT_EQ(chunk.tag().step(), 70000u);
  EXPECT_EQ(chunk.offset(), 5u);
  EXPECT_EQ(chunk.total(), 16u);
  EXPECT_EQ(chunk.crc32c(), 0xdeadbeef);
  EXPECT_EQ(chunk.data(), kData);
  // And what generated code makes of it is read alike.
  EXPECT_EQ(message.SerializeAsString(), Encode(ToReceiver(kHeader)) + kData);
}

TEST(WireFormat, ReadsAChunkThroughAnySlices) {
  const std::string bytes = Encode(ToReceiver(kHeader)) + kData;
  for (int slice = 1; slice <= static_cast<int>(bytes.size()); ++slice) {
    std::string data;
    const auto message = Decode(bytes, slice, &data);
    ASSERT_TRUE(message.ok()) << message.status();
    const auto& header = std::get<ChunkHeader>(*message);
    EXPECT_EQ(header.tag, kHeader.tag);
    EXPECT_EQ(header.offset, 5);
    EXPECT_EQ(header.size, 11);
    EXPECT_EQ(header.total, 16);
    EXPECT_EQ(header.crc32c, 0xdeadbeef);
    EXPECT_EQ(data, kData);
  }
}

TEST(WireFormat, ANoteThatSaysNothingTakesNoBytes) {
  ChunkHeader header = kHeader;
  const size_t without = Encode(ToReceiver(header)).size();
  std::string data;
  EXPECT_EQ(std::get<ChunkHeader>(*Decode(Encode(ToReceiver(header)) + kData, 3, &data)).note,
            Note{});
  for (const Note note : {Note{.weight = 0, .clock = 0}, Note{.weight = 0.25, .clock = -1},
                          Note{.weight = 1, .clock = int64_t{1} << 62}}) {
    header.note = note;
    const std::string bytes = Encode(ToReceiver(header));
    EXPECT_GT(bytes.size(), without);
    EXPECT_EQ(std::get<ChunkHeader>(*Decode(bytes + kData, 3, &data)).note, note);
    EXPECT_EQ(data, kData);
  }
}

TEST(WireFormat, SkipsFieldsOfALaterVersion) {
  gossip::ToReceiver message;
  ASSERT_TRUE(message.ParseFromString(Encode(ToReceiver(kHeader)) + kData));
  message.mutable_chunk()
      ->mutable_tag()
      ->GetReflection()
      ->MutableUnknownFields(message.mutable_chunk()->mutable_tag())
      ->AddVarint(9, 1);
  std::string data;
  EXPECT_TRUE(Decode(message.SerializeAsString(), 7, &data).ok());
  EXPECT_EQ(data, kData);
}

TEST(WireFormat, CarriesControlMessagesBothWays) {
  const EdgeIdentity identity{1, "run", 3, 8, "schema", "ring", "dpsgd"};
  std::string data;
  const auto hello = Decode(Encode(ToReceiver(identity)), 3, &data);
  ASSERT_TRUE(hello.ok()) << hello.status();
  EXPECT_EQ(std::get<EdgeIdentity>(*hello).rank, 3);
  EXPECT_EQ(std::get<EdgeIdentity>(*hello).algorithm, "dpsgd");
  EXPECT_EQ(std::get<Heartbeat>(*Decode(Encode(ToReceiver(Heartbeat{-4})), 2, &data)).round, -4);
  EXPECT_TRUE(std::holds_alternative<Goodbye>(*Decode(Encode(ToReceiver(Goodbye{})), 2, &data)));

  const Tag tag{.channel = 65535, .index = 5, .step = 6};
  for (const Credit credit : {Credit::kAtOnce, Credit::kInTurn}) {
    const std::string bytes = Encode(ToSender(Grant{{tag, Tag{}}, credit, 1234567890123}));
    ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()), 3);
    const auto grant = DecodeToSender(&stream, static_cast<int64_t>(bytes.size()));
    ASSERT_TRUE(grant.ok()) << grant.status();
    EXPECT_EQ(std::get<Grant>(*grant).tags, (std::vector<Tag>{tag, Tag{}}));
    EXPECT_EQ(std::get<Grant>(*grant).credit, credit);
    EXPECT_EQ(std::get<Grant>(*grant).received, 1234567890123u);
    EXPECT_TRUE(std::get<Grant>(*grant).declined.empty());
  }
}

std::string Answer(const ResumePoint& point) {
  return Encode(ToSender(EdgeIdentity{.call = {.process = 77, .number = 5}, .resume = point}));
}

TEST(WireFormat, CarriesWhereTheMessagesGoOn) {
  ResumePoint point{.received = 1234567890123,
                    .partial_bytes = int64_t{1} << 40,
                    .partial = {.channel = 3, .index = -1, .step = 7},
                    .offers = 5,
                    .open_offers = {2, 5}};
  const std::string bytes = Answer(point);
  ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()), 3);
  const auto answer = DecodeToSender(&stream, static_cast<int64_t>(bytes.size()));
  ASSERT_TRUE(answer.ok()) << answer.status();
  const auto& hello = std::get<EdgeIdentity>(*answer);
  EXPECT_EQ(hello.call.process, 77u);
  EXPECT_EQ(hello.call.number, 5u);
  EXPECT_EQ(hello.resume.received, point.received);
  EXPECT_EQ(hello.resume.partial, point.partial);
  EXPECT_EQ(hello.resume.partial_bytes, point.partial_bytes);
  EXPECT_EQ(hello.resume.offers, point.offers);
  EXPECT_EQ(hello.resume.open_offers, point.open_offers);
}

TEST(WireFormat, BoundsTheOffersThatAreOpen) {
  const auto decoded = [](size_t offers) {
    const std::string bytes =
        Answer({.offers = 1, .open_offers = std::vector<uint64_t>(offers, ~uint64_t{0})});
    ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
    return DecodeToSender(&stream, static_cast<int64_t>(bytes.size())).status();
  };
  EXPECT_TRUE(decoded(2048).ok()) << "the most that there can be";
  EXPECT_THAT(std::string(decoded(2049).message()), HasSubstr("says that 2049 offers are open"));
}

TEST(WireFormat, CarriesOffersAndTheirAnswers) {
  const Tag tag{.channel = 65535, .index = -5, .step = 6};
  std::string data;
  for (const Note note : {Note{}, Note{.weight = 0.25, .clock = -1}}) {
    const auto message = Decode(Encode(ToReceiver(Offer{tag, int64_t{1} << 40, note})), 3, &data);
    ASSERT_TRUE(message.ok()) << message.status();
    const auto& offer = std::get<Offer>(*message);
    EXPECT_EQ(offer.tag, tag);
    EXPECT_EQ(offer.bytes, int64_t{1} << 40);
    EXPECT_EQ(offer.note, note);
  }
  EXPECT_EQ(std::get<Withdrawn>(*Decode(Encode(ToReceiver(Withdrawn{tag})), 3, &data)).tag, tag);
  const std::string bytes =
      Encode(ToSender(Grant{.tags = {}, .declined = {tag}, .withdrawn = {Tag{}, tag}}));
  ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()), 3);
  const auto grant = DecodeToSender(&stream, static_cast<int64_t>(bytes.size()));
  ASSERT_TRUE(grant.ok()) << grant.status();
  EXPECT_TRUE(std::get<Grant>(*grant).tags.empty());
  EXPECT_EQ(std::get<Grant>(*grant).declined, std::vector<Tag>{tag});
  EXPECT_EQ(std::get<Grant>(*grant).withdrawn, (std::vector<Tag>{Tag{}, tag}));
}

// All that a link can have to say at a time.
TEST(WireFormat, TheLongestGrantFits) {
  Grant grant;
  for (uint32_t i = 0; i < 1024; ++i) {
    const Tag tag{.channel = 65535, .index = -1, .step = ~uint32_t{0} - i};
    grant.declined.push_back(tag);
    grant.withdrawn.push_back(tag);
  }
  EXPECT_LT(static_cast<int64_t>(Encode(ToSender(grant)).size()), kMaxControlBytes);
}

TEST(WireFormat, RefusesEveryTruncation) {
  const std::string bytes = Encode(ToReceiver(kHeader)) + kData;
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(WhyNot(bytes.substr(0, size)), "sent bytes that are not a message") << size;
  }
  EXPECT_EQ(WhyNot(bytes + "x"), "sent bytes that are not a message");
}

TEST(WireFormat, RefusesWhatCannotBe) {
  ChunkHeader header = kHeader;
  header.total = 15;
  EXPECT_THAT(WhyNot(Encode(ToReceiver(header)) + kData), HasSubstr("11 bytes from byte 5 of 15"));
  header = kHeader;
  header.crc32c.reset();
  EXPECT_THAT(WhyNot(Encode(ToReceiver(header)) + kData), HasSubstr("without checksum"));
  for (const double weight :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    header = kHeader;
    header.note.weight = weight;
    EXPECT_THAT(WhyNot(Encode(ToReceiver(header)) + kData), HasSubstr("with a weight of "));
  }
  EXPECT_THAT(WhyNot(Encode(
                  ToReceiver(Offer{.note = {.weight = std::numeric_limits<double>::quiet_NaN()}}))),
              HasSubstr("with a weight of nan"));
  EXPECT_THAT(WhyNot(std::string(kMaxControlBytes + 1, 'x')), HasSubstr("without data"));
  gossip::ToReceiver message;
  message.mutable_chunk()->mutable_tag()->set_channel(65536);
  message.mutable_chunk()->set_crc32c(0);
  EXPECT_EQ(WhyNot(message.SerializeAsString()), "named channel 65536");
  EXPECT_EQ(WhyNot(gossip::ToReceiver().SerializeAsString()), "sent bytes that are not a message");
}

TEST(WireFormat, SurvivesEveryFlippedBit) {
  const std::string bytes = Encode(ToReceiver(kHeader)) + kData;
  int refused = 0;
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    std::string data;
    refused += Decode(flipped, 5, &data).ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace grapevine
