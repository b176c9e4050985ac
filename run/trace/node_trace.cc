#include "run/trace/node_trace.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <span>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "run/records/json_record.h"
#include "run/records/output_file.h"
#include "system/mapped_file.h"

namespace grapevine {
namespace {

constexpr char kFormat[] = "grapevine-node-trace-1";
// Far more than a header needs.
constexpr size_t kMaxHeader = 4096;
constexpr int64_t kCentury = int64_t{3'155'760'000} * 1'000'000'000;
// Its value shows the writer's byte order.
constexpr int64_t kByteOrder = 0x0102030405060708;

struct Header {
  std::string format;
  int64_t rank = 0;
  std::string clock;
  int64_t start = 0;
  int64_t dropped = 0;
  int64_t records = 0;
};

constexpr auto kHeaderMembers = [](auto& record, auto&& visit) {
  visit("format", record.format);
  visit("rank", record.rank);
  visit("clock", record.clock);
  visit("start", record.start);
  visit("dropped", record.dropped);
  visit("records", record.records);
};

absl::Status BadTrace(const std::string& path, std::string_view why) {
  return InputError(path, absl::StrCat("is not a trace of a node: ", std::string(why)));
}

bool Valid(const TraceRecord& record, Rank nodes) {
  return record.begin >= 0 && record.begin <= record.end && record.end <= kCentury &&
         record.round >= 0 && record.bytes >= 0 && record.peer >= 0 && record.peer < nodes &&
         record.channel <= std::numeric_limits<uint16_t>::max() &&
         record.kind <= TraceKind::kReceived;
}

// The records behind a header of `size` bytes.
absl::Status ReadRecords(std::span<const uint8_t> bytes, int64_t records, NodeTrace* trace) {
  const size_t size = sizeof(kByteOrder) + static_cast<size_t>(records) * sizeof(TraceRecord);
  if (bytes.size() != size) return absl::InvalidArgumentError("it is cut off");
  int64_t order = 0;
  std::memcpy(&order, bytes.data(), sizeof(order));
  if (order != kByteOrder) return absl::InvalidArgumentError("its byte order is another one");
  trace->records.resize(static_cast<size_t>(records));
  std::memcpy(static_cast<void*>(trace->records.data()), bytes.data() + sizeof(order),
              size - sizeof(order));
  return absl::OkStatus();
}

}  // namespace

std::string NodeTracePath(const std::string& folder) { return absl::StrCat(folder, "/trace.bin"); }

absl::Status WriteNodeTrace(const std::string& path, const NodeTrace& trace) {
  const Header header{.format = kFormat,
                      .rank = trace.rank,
                      .clock = trace.clock,
                      .start = trace.start,
                      .dropped = trace.dropped,
                      .records = static_cast<int64_t>(trace.records.size())};
  std::string bytes = Dump(ToJson(header, kHeaderMembers)) + "\n";
  bytes.append(reinterpret_cast<const char*>(&kByteOrder), sizeof(kByteOrder));
  bytes.append(reinterpret_cast<const char*>(trace.records.data()),
               trace.records.size() * sizeof(TraceRecord));
  return WriteOutputFile(path, bytes);
}

absl::StatusOr<NodeTrace> ReadNodeTrace(const std::string& path, Rank nodes) {
  const absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
  const std::span<const uint8_t> bytes = (*file)->bytes();
  const auto line = bytes.first(std::min(bytes.size(), kMaxHeader));
  const auto end = std::ranges::find(line, '\n');
  if (end == line.end()) return BadTrace(path, "it has no header");
  const absl::StatusOr<Header> header =
      FromJsonText<Header>(std::string_view(reinterpret_cast<const char*>(line.data()),
                                            static_cast<size_t>(end - line.begin())),
                           kHeaderMembers);
  if (!header.ok()) return BadTrace(path, "its header " + std::string(header.status().message()));
  const int64_t most = static_cast<int64_t>(bytes.size() / sizeof(TraceRecord));
  if (header->format != kFormat || header->rank < 0 || header->rank >= nodes ||
      header->records < 0 || header->records > most || header->start < 0 ||
      header->start > kCentury) {
    return BadTrace(path, "its header makes no sense");
  }
  NodeTrace trace{.rank = header->rank,
                  .clock = header->clock,
                  .start = header->start,
                  .dropped = header->dropped,
                  .records = {}};
  const absl::Status read = ReadRecords(bytes.subspan(static_cast<size_t>(end - line.begin()) + 1),
                                        header->records, &trace);
  if (!read.ok()) return BadTrace(path, std::string(read.message()));
  for (const TraceRecord& record : trace.records) {
    if (!Valid(record, nodes)) return BadTrace(path, "a record makes no sense");
  }
  return trace;
}

}  // namespace grapevine
