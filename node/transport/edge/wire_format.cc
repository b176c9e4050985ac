#include "node/transport/edge/wire_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "algorithm/message.h"
#include "base/status.h"
#include "google/protobuf/message_lite.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "google/protobuf/wire_format_lite.h"
#include "kernels/passes/crc32c.h"
#include "node/transport/edge/gossip.pb.h"
#include "node/transport/transport.h"

namespace grapevine {

uint32_t MessageChecksum::Through(int64_t end) {
  MutexLock lock(mutex_);
  if (end > done_) {
    crc32c_ = Crc32c(crc32c_, data_ + done_, static_cast<size_t>(end - done_));
    done_ = end;
  }
  return crc32c_;
}

uint32_t WithNote(uint32_t crc32c, const Note& note) {
  if (note == Note{}) return crc32c;
  const uint64_t words[] = {std::bit_cast<uint64_t>(note.weight),
                            std::bit_cast<uint64_t>(note.clock)};
  static_assert(std::endian::native == std::endian::little);
  return Crc32c(crc32c, words, sizeof(words));
}

std::shared_ptr<MessageChecksum> ChecksumsInFlight::Of(const SharedBytes& message) {
  MutexLock lock(mutex_);
  // Few checksums are in flight at a time: sweeping costs less than tidying up on release.
  std::erase_if(checksums_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<MessageChecksum>& known = checksums_[Key(message.begin, message.size)];
  std::shared_ptr<MessageChecksum> checksum = known.lock();
  if (checksum == nullptr) known = checksum = std::make_shared<MessageChecksum>(message);
  return checksum;
}

namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

constexpr uint32_t FieldKey(int field) {
  return static_cast<uint32_t>(field) << 3 | WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
}
constexpr uint32_t kChunkKey = FieldKey(gossip::ToReceiver::kChunkFieldNumber);
constexpr uint32_t kDataKey = FieldKey(gossip::Chunk::kDataFieldNumber);
// Size in bytes of the largest message that is copied into the cache; about the size of a
// second-level cache.
constexpr int64_t kCachedMessage = 4 << 20;

// Number of bytes that stay in the nearest cache while they are read again.
constexpr int64_t kBlock = 16 << 10;

absl::Status NotAMessage() {
  return absl::InvalidArgumentError("sent bytes that are not a message");
}

void Fill(Tag from, gossip::Tag* to) {
  to->set_channel(from.channel);
  to->set_index(from.index);
  to->set_step(from.step);
}

void Fill(const ResumePoint& from, gossip::ResumePoint* to) {
  to->set_received(from.received);
  to->set_partial_bytes(static_cast<uint64_t>(from.partial_bytes));
  if (from.partial_bytes > 0) Fill(from.partial, to->mutable_partial());
  to->set_offers(from.offers);
  to->mutable_open_offers()->Add(from.open_offers.begin(), from.open_offers.end());
}

void Fill(const EdgeIdentity& from, gossip::Hello* to) {
  to->set_protocol_version(from.protocol_version);
  to->set_run_id(from.run_id);
  to->set_rank(from.rank);
  to->set_world_size(from.world_size);
  to->set_schema(from.schema);
  to->set_topology(from.topology);
  to->set_algorithm(from.algorithm);
  to->set_listener(from.listener);
  to->set_proof(from.proof);
  to->set_process(from.call.process);
  to->set_call(from.call.number);
  if (from.resume.received > 0 || from.resume.partial_bytes > 0 || from.resume.offers > 0) {
    Fill(from.resume, to->mutable_resume());
  }
}

void Fill(const Note& from, gossip::Note* to) {
  to->set_weight(from.weight);
  to->set_clock(from.clock);
}

void Fill(const std::vector<Tag>& from, google::protobuf::RepeatedPtrField<gossip::Tag>* to) {
  for (const Tag& tag : from) Fill(tag, to->Add());
}

absl::StatusOr<Tag> TagOf(const gossip::Tag& tag) {
  if (tag.channel() > std::numeric_limits<uint16_t>::max()) {
    return absl::InvalidArgumentError(absl::StrCat("named channel ", tag.channel()));
  }
  return Tag{static_cast<uint16_t>(tag.channel()), tag.index(), tag.step()};
}

absl::StatusOr<std::vector<Tag>> TagsOf(
    const google::protobuf::RepeatedPtrField<gossip::Tag>& tags) {
  std::vector<Tag> named;
  for (const gossip::Tag& tag : tags) {
    ASSIGN_OR_RETURN(named.emplace_back(), TagOf(tag));
  }
  return named;
}

int64_t SizeOf(uint64_t value) {
  return static_cast<int64_t>(std::min<uint64_t>(value, std::numeric_limits<int64_t>::max()));
}

absl::StatusOr<ResumePoint> ResumePointOf(const gossip::ResumePoint& point) {
  // Each open offer is unanswered, or belongs to a post; both are bounded by kMaxQueued.
  constexpr int kMost = 2 * Transport::kMaxQueued;
  if (point.open_offers_size() > kMost) {
    return absl::InvalidArgumentError(
        absl::StrCat("says that ", point.open_offers_size(), " offers are open"));
  }
  ASSIGN_OR_RETURN(const Tag partial, TagOf(point.partial()));
  return ResumePoint{.received = point.received(),
                     .partial_bytes = SizeOf(point.partial_bytes()),
                     .partial = partial,
                     .offers = point.offers(),
                     .open_offers = {point.open_offers().begin(), point.open_offers().end()}};
}

absl::StatusOr<EdgeIdentity> IdentityOf(const gossip::Hello& hello) {
  ASSIGN_OR_RETURN(ResumePoint resume, ResumePointOf(hello.resume()));
  return EdgeIdentity{.protocol_version = hello.protocol_version(),
                      .run_id = hello.run_id(),
                      .rank = hello.rank(),
                      .world_size = hello.world_size(),
                      .schema = hello.schema(),
                      .topology = hello.topology(),
                      .algorithm = hello.algorithm(),
                      .listener = hello.listener(),
                      .proof = hello.proof(),
                      .call = {.process = hello.process(), .number = hello.call()},
                      .resume = std::move(resume)};
}

absl::Status CheckNote(const Note& note, const Tag& tag) {
  if (std::isfinite(note.weight)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("sent ", Describe(tag), " with a weight of ", note.weight));
}

void AppendLength(uint32_t key, uint64_t length, std::string* to) {
  uint8_t bytes[20];
  uint8_t* end = CodedOutputStream::WriteVarint32ToArray(key, bytes);
  end = CodedOutputStream::WriteVarint64ToArray(length, end);
  to->append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(end - bytes));
}

std::string EncodeChunk(const ChunkHeader& header) {
  gossip::Chunk chunk;
  Fill(header.tag, chunk.mutable_tag());
  chunk.set_offset(static_cast<uint64_t>(header.offset));
  chunk.set_total(static_cast<uint64_t>(header.total));
  if (header.crc32c.has_value()) chunk.set_crc32c(*header.crc32c);
  if (header.note != Note{}) Fill(header.note, chunk.mutable_note());
  std::string fields = chunk.SerializeAsString();
  AppendLength(kDataKey, static_cast<uint64_t>(header.size), &fields);
  std::string message;
  AppendLength(kChunkKey, fields.size() + static_cast<uint64_t>(header.size), &message);
  return message + fields;
}

// Reads a length-delimited submessage.
bool ReadSubmessage(CodedInputStream* in, google::protobuf::MessageLite* message) {
  uint32_t length;
  if (!in->ReadVarint32(&length)) return false;
  const CodedInputStream::Limit limit = in->PushLimit(static_cast<int>(length));
  const bool read = message->MergeFromCodedStream(in) && in->ConsumedEntireMessage() &&
                    in->BytesUntilLimit() == 0;
  in->PopLimit(limit);
  return read;
}

bool ReadSize(CodedInputStream* in, int64_t* size) {
  uint64_t value;
  if (!in->ReadVarint64(&value)) return false;
  *size = SizeOf(value);
  return true;
}

bool ReadCrc(CodedInputStream* in, ChunkHeader* header) {
  uint32_t crc;
  if (!in->ReadLittleEndian32(&crc)) return false;
  header->crc32c = crc;
  return true;
}

bool ReadNote(CodedInputStream* in, Note* note) {
  gossip::Note read;
  if (!ReadSubmessage(in, &read)) return false;
  *note = {.weight = read.weight(), .clock = read.clock()};
  return true;
}

// Reads one field of a chunk before its data.
bool ReadChunkField(CodedInputStream* in, uint32_t key, gossip::Tag* tag, ChunkHeader* header) {
  switch (key) {
    case FieldKey(gossip::Chunk::kTagFieldNumber):
      return ReadSubmessage(in, tag);
    case FieldKey(gossip::Chunk::kNoteFieldNumber):
      return ReadNote(in, &header->note);
    case gossip::Chunk::kOffsetFieldNumber << 3 | WireFormatLite::WIRETYPE_VARINT:
      return ReadSize(in, &header->offset);
    case gossip::Chunk::kTotalFieldNumber << 3 | WireFormatLite::WIRETYPE_VARINT:
      return ReadSize(in, &header->total);
    case gossip::Chunk::kCrc32CFieldNumber << 3 | WireFormatLite::WIRETYPE_FIXED32:
      return ReadCrc(in, header);
    default:
      return WireFormatLite::SkipField(in, key);
  }
}

// Decodes a chunk up to its data. A chunk without data ends with the message; its size is 0.
absl::StatusOr<ChunkHeader> DecodeChunk(CodedInputStream* in, int64_t size) {
  uint32_t length;
  if (!in->ReadVarint32(&length) || in->CurrentPosition() + int64_t{length} != size) {
    return NotAMessage();
  }
  ChunkHeader header;
  gossip::Tag tag;
  uint32_t data_size = 0;
  while (in->CurrentPosition() < size) {
    const uint32_t key = in->ReadTag();
    if (key == kDataKey) {
      if (!in->ReadVarint32(&data_size)) return NotAMessage();
      break;
    }
    if (key == 0 || !ReadChunkField(in, key, &tag, &header)) return NotAMessage();
  }
  if (in->CurrentPosition() + int64_t{data_size} != size) return NotAMessage();
  header.size = data_size;
  ASSIGN_OR_RETURN(header.tag, TagOf(tag));
  if (header.offset > header.total || header.size > header.total - header.offset) {
    return absl::InvalidArgumentError(absl::StrCat("sent ", header.size, " bytes from byte ",
                                                   header.offset, " of ", header.total, " of ",
                                                   Describe(header.tag)));
  }
  RETURN_IF_ERROR(CheckNote(header.note, header.tag));
  if (header.last() && !header.crc32c.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("sent ", Describe(header.tag), " without checksum"));
  }
  return header;
}

absl::StatusOr<Grant> GrantOf(const gossip::Grant& message) {
  Grant grant{.tags = {},
              .credit = message.in_turn() ? Credit::kInTurn : Credit::kAtOnce,
              .received = message.received()};
  ASSIGN_OR_RETURN(grant.tags, TagsOf(message.tags()));
  ASSIGN_OR_RETURN(grant.declined, TagsOf(message.declined()));
  ASSIGN_OR_RETURN(grant.withdrawn, TagsOf(message.withdrawn()));
  return grant;
}

absl::StatusOr<ToReceiver> OfferOf(const gossip::Offer& message) {
  Offer offer{.tag = {}, .bytes = SizeOf(message.bytes())};
  ASSIGN_OR_RETURN(offer.tag, TagOf(message.tag()));
  if (message.has_note()) {
    offer.note = {.weight = message.note().weight(), .clock = message.note().clock()};
  }
  RETURN_IF_ERROR(CheckNote(offer.note, offer.tag));
  return offer;
}

absl::StatusOr<ToReceiver> WithdrawnOf(const gossip::Withdrawn& message) {
  ASSIGN_OR_RETURN(const Tag tag, TagOf(message.tag()));
  return Withdrawn{tag};
}

absl::Status TooLong(int64_t size) {
  return absl::InvalidArgumentError(
      absl::StrCat("sent a message of ", size, " bytes without data"));
}

}  // namespace

std::string Encode(const ToReceiver& message) {
  if (const auto* chunk = std::get_if<ChunkHeader>(&message)) return EncodeChunk(*chunk);
  gossip::ToReceiver out;
  if (const auto* hello = std::get_if<EdgeIdentity>(&message)) Fill(*hello, out.mutable_hello());
  if (const auto* heartbeat = std::get_if<Heartbeat>(&message)) {
    out.mutable_heartbeat()->set_round(heartbeat->round);
  }
  if (std::holds_alternative<Goodbye>(message)) out.mutable_goodbye();
  if (const auto* offer = std::get_if<Offer>(&message)) {
    Fill(offer->tag, out.mutable_offer()->mutable_tag());
    out.mutable_offer()->set_bytes(static_cast<uint64_t>(offer->bytes));
    if (offer->note != Note{}) Fill(offer->note, out.mutable_offer()->mutable_note());
  }
  if (const auto* withdrawn = std::get_if<Withdrawn>(&message)) {
    Fill(withdrawn->tag, out.mutable_withdrawn()->mutable_tag());
  }
  return out.SerializeAsString();
}

std::string Encode(const ToSender& message) {
  gossip::ToSender out;
  if (const auto* hello = std::get_if<EdgeIdentity>(&message)) Fill(*hello, out.mutable_hello());
  if (const auto* heartbeat = std::get_if<Heartbeat>(&message)) {
    out.mutable_heartbeat()->set_round(heartbeat->round);
  }
  if (const auto* grant = std::get_if<Grant>(&message)) {
    out.mutable_grant()->set_in_turn(grant->credit == Credit::kInTurn);
    out.mutable_grant()->set_received(grant->received);
    Fill(grant->tags, out.mutable_grant()->mutable_tags());
    Fill(grant->declined, out.mutable_grant()->mutable_declined());
    Fill(grant->withdrawn, out.mutable_grant()->mutable_withdrawn());
  }
  return out.SerializeAsString();
}

absl::StatusOr<ToReceiver> DecodeToReceiver(CodedInputStream* in, int64_t size) {
  const uint32_t key = in->ReadTag();
  if (key == kChunkKey) return DecodeChunk(in, size);
  if (size > kMaxControlBytes) return TooLong(size);
  gossip::Hello hello;
  gossip::Heartbeat heartbeat;
  gossip::Goodbye goodbye;
  if (key == FieldKey(gossip::ToReceiver::kHelloFieldNumber) && ReadSubmessage(in, &hello)) {
    return IdentityOf(hello);
  }
  if (key == FieldKey(gossip::ToReceiver::kHeartbeatFieldNumber) &&
      ReadSubmessage(in, &heartbeat)) {
    return Heartbeat{heartbeat.round()};
  }
  if (key == FieldKey(gossip::ToReceiver::kGoodbyeFieldNumber) && ReadSubmessage(in, &goodbye)) {
    return Goodbye{};
  }
  gossip::Offer offer;
  if (key == FieldKey(gossip::ToReceiver::kOfferFieldNumber) && ReadSubmessage(in, &offer)) {
    return OfferOf(offer);
  }
  gossip::Withdrawn withdrawn;
  if (key == FieldKey(gossip::ToReceiver::kWithdrawnFieldNumber) &&
      ReadSubmessage(in, &withdrawn)) {
    return WithdrawnOf(withdrawn);
  }
  return NotAMessage();
}

absl::StatusOr<ToSender> DecodeToSender(google::protobuf::io::ZeroCopyInputStream* in,
                                        int64_t size) {
  if (size > kMaxControlBytes) return TooLong(size);
  gossip::ToSender message;
  if (!message.ParseFromZeroCopyStream(in)) return NotAMessage();
  switch (message.content_case()) {
    case gossip::ToSender::kHello:
      return IdentityOf(message.hello());
    case gossip::ToSender::kHeartbeat:
      return Heartbeat{message.heartbeat().round()};
    case gossip::ToSender::kGrant:
      return GrantOf(message.grant());
    default:
      return NotAMessage();
  }
}

absl::StatusOr<uint32_t> CopyChunkData(CodedInputStream* in, const ChunkHeader& chunk,
                                       std::byte* into, uint32_t crc32c, StreamedNorm* norm) {
  // The first bytes of a large message would have left the cache by the time the last ones come.
  const CopyTo where = chunk.total > kCachedMessage ? CopyTo::kMemory : CopyTo::kCache;
  int64_t size = chunk.size;
  while (size > 0) {
    const void* run;
    int available;
    if (!in->GetDirectBufferPointer(&run, &available)) return NotAMessage();
    const int64_t taken = std::min({int64_t{available}, size, norm != nullptr ? kBlock : size});
    crc32c = CopyAndCrc32c(where, crc32c, into, run, static_cast<size_t>(taken));
    if (norm != nullptr) norm->Add(static_cast<const std::byte*>(run), taken);
    in->Skip(static_cast<int>(taken));
    into += taken;
    size -= taken;
  }
  return crc32c;
}

}  // namespace grapevine
