// Recordings of events (run/recording/recording.h): the input as a file, and as the content of a
// block whose checksums are right.
#include "run/recording/recording.h"

#include <glog/logging.h>

#include <string>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

constexpr Rank kRecordedNodes = 1;

absl::StatusOr<std::vector<RecordedNode>> Read(std::string_view bytes) {
  const fuzz::InputFile file(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  const std::string files[] = {file.path()};
  auto nodes = ReadRecordings(files);
  if (!nodes.ok()) fuzz::RequireClass(nodes.status(), Failure::kInput);
  return nodes;
}

std::string WithEvents(std::string_view content) {
  RecordingHeader header;
  header.set_rank(0);
  header.set_nodes(kRecordedNodes);
  std::string bytes(kMagic);
  AppendBlock({BlockKind::kHeader, header.SerializeAsString()}, &bytes);
  AppendBlock({BlockKind::kEvents, content}, &bytes);
  return bytes;
}

std::string EventsOf(const RecordedNode& node) {
  std::string events;
  for (EventCursor cursor(&node); !cursor.done(); cursor.Next()) {
    AppendEvent(cursor.event(), &events);
  }
  return events;
}

FUZZ_TARGET(recording) {
  const std::string_view input = fuzz::Text(data, size);
  (void)Read(input);
  const auto nodes = Read(WithEvents(input));
  if (!nodes.ok()) return;
  const std::string events = EventsOf(nodes->front());
  const auto again = Read(WithEvents(events));
  CHECK(again.ok()) << again.status();
  CHECK_EQ(EventsOf(again->front()), events);
  CHECK_EQ(again->front().events(), nodes->front().events());
}

}  // namespace
}  // namespace grapevine
