#include "run/trace/chrome_trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "run/records/output_file.h"

namespace grapevine {
namespace {

constexpr size_t kFlushAt = size_t{1} << 16;
// Larger ids are not exact for readers that take JSON numbers as doubles.
constexpr uint64_t kIdMask = (uint64_t{1} << 53) - 1;

// Returns `text` in quotes. Bytes that are not UTF-8 become U+FFFD.
std::string Quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Appends a time in microseconds.
void AppendMicroseconds(int64_t nanoseconds, std::string* out) {
  absl::StrAppendFormat(out, "%d.%03d", nanoseconds / 1000, nanoseconds % 1000);
}

void AppendLane(const ChromeTrace::Lane& lane, std::string* out) {
  absl::StrAppend(out, ",\"pid\":", lane.process, ",\"tid\":", lane.thread);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChromeTrace>> ChromeTrace::Create(const std::string& path,
                                                                 int64_t max_events) {
  absl::StatusOr<std::unique_ptr<AtomicFile>> file = AtomicFile::Create(path);
  if (!file.ok()) return AsOutputStatus(file.status());
  return std::unique_ptr<ChromeTrace>(new ChromeTrace(*std::move(file), max_events));
}

ChromeTrace::ChromeTrace(std::unique_ptr<AtomicFile> file, int64_t max_events)
    : file_(std::move(file)),
      most_events_(max_events),
      pending_("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[") {}

bool ChromeTrace::Begin() {
  if (events_ >= most_events_) {
    ++dropped_;
    return false;
  }
  Flush(kFlushAt);
  pending_ += events_++ == 0 ? "\n" : ",\n";
  return true;
}

void ChromeTrace::Flush(size_t at_least) {
  if (pending_.size() < at_least) return;
  if (status_.ok()) status_ = file_->Append(pending_);
  pending_.clear();
}

void ChromeTrace::Metadata(std::string_view what, const Lane& lane, std::string_view name) {
  if (Begin()) {
    absl::StrAppend(&pending_, "{\"ph\":\"M\",\"name\":\"", std::string(what), "_name\"");
    AppendLane(lane, &pending_);
    absl::StrAppend(&pending_, ",\"args\":{\"name\":", Quoted(name), "}}");
  }
  if (Begin()) {
    absl::StrAppend(&pending_, "{\"ph\":\"M\",\"name\":\"", std::string(what), "_sort_index\"");
    AppendLane(lane, &pending_);
    absl::StrAppend(&pending_,
                    ",\"args\":{\"sort_index\":", what == "process" ? lane.process : lane.thread,
                    "}}");
  }
}

void ChromeTrace::NameProcess(int64_t process, std::string_view name) {
  Metadata("process", {.process = process, .thread = 0}, name);
}

void ChromeTrace::NameLane(const Lane& lane, std::string_view name) {
  Metadata("thread", lane, name);
}

void ChromeTrace::Slice(const Lane& lane, std::string_view name, int64_t begin, int64_t end,
                        std::span<const Argument> arguments) {
  if (!Begin()) return;
  absl::StrAppend(&pending_, "{\"ph\":\"X\",\"name\":", Quoted(name));
  AppendLane(lane, &pending_);
  pending_ += ",\"ts\":";
  AppendMicroseconds(begin, &pending_);
  pending_ += ",\"dur\":";
  AppendMicroseconds(end - begin, &pending_);
  const char* separator = ",\"args\":{";
  for (const Argument& argument : arguments) {
    absl::StrAppend(&pending_, std::exchange(separator, ","), Quoted(argument.name), ":",
                    argument.value);
  }
  pending_ += arguments.empty() ? "}" : "}}";
}

void ChromeTrace::FlowFrom(const Lane& lane, int64_t at, uint64_t id) { Flow('s', lane, at, id); }

void ChromeTrace::FlowTo(const Lane& lane, int64_t at, uint64_t id) { Flow('f', lane, at, id); }

void ChromeTrace::Flow(char phase, const Lane& lane, int64_t at, uint64_t id) {
  if (!Begin()) return;
  absl::StrAppend(&pending_, "{\"ph\":\"", std::string(1, phase),
                  "\",\"cat\":\"message\",\"name\":\"message\",\"id\":", id & kIdMask);
  if (phase == 'f') pending_ += ",\"bp\":\"e\"";  // binds to the enclosing slice, not the next one
  AppendLane(lane, &pending_);
  pending_ += ",\"ts\":";
  AppendMicroseconds(at, &pending_);
  pending_ += "}";
}

absl::Status ChromeTrace::Finish() {
  absl::StrAppend(&pending_, "\n],\"otherData\":{\"dropped_events\":", dropped_, "}}\n");
  Flush(0);
  if (status_.ok()) status_ = file_->Commit();
  return AsOutputStatus(status_);
}

}  // namespace grapevine
