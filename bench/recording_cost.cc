// What recording costs a node, by the event: to encode it, and its part of the writing of its
// block.
//
//   bazel run //bench:recording_cost [-- FILE [EVENTS]]
//   e.g. -- /tmp/events.rec 10000000
//
// The events are those of a node that averages with its neighbours; FILE is replaced, and removed.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/status.h"
#include "bench/processor_time.h"
#include "run/recording/recorder.h"

namespace grapevine {
namespace {

absl::Status Measure(const std::string& path, int64_t events) {
  RecordingHeader header;
  header.set_rank(0);
  header.set_nodes(8);
  ASSIGN_OR_RETURN(const std::unique_ptr<RecordingWriter> writer,
                   RecordingWriter::Create(path, header));
  const double before = ProcessorSeconds();
  for (int64_t i = 0; i < events; i += 4) {
    RETURN_IF_ERROR(writer->Add(Received{.from = 1, .tag = {.index = i / 8, .step = 1}}));
    RETURN_IF_ERROR(writer->Add(Left{{static_cast<uint64_t>(i)}}));
    RETURN_IF_ERROR(writer->Add(Sent{{static_cast<uint64_t>(i)}}));
    RETURN_IF_ERROR(writer->Add(GradientReady{i / 4}));
  }
  RETURN_IF_ERROR(writer->Finish({}));
  const double used = ProcessorSeconds() - before;
  std::printf("%.0f ns an event\n", 1e9 * used / static_cast<double>(events));
  return absl::OkStatus();
}

}  // namespace
}  // namespace grapevine

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "events.rec";
  const int64_t events = argc > 2 ? std::atoll(argv[2]) : 10'000'000;
  const absl::Status status = grapevine::Measure(path, events);
  std::remove(path.c_str());
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}
