// Writes Chrome's trace event format, which ui.perfetto.dev and chrome://tracing open.
//
// Events stream to a file that appears complete or not at all; memory is bounded. The format is
// "Trace Event Format", Google, 2016 (complete events, flow events, metadata).
//
// Thread-safety: thread-compatible.
#ifndef GRAPEVINE_RUN_TRACE_CHROME_TRACE_H_
#define GRAPEVINE_RUN_TRACE_CHROME_TRACE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "system/file.h"

namespace grapevine {

class ChromeTrace {
 public:
  // A lane of a process. Slices of one lane must not overlap, except by nesting.
  struct Lane {
    int64_t process = 0;
    int64_t thread = 0;
  };
  struct Argument {
    std::string_view name;
    int64_t value = 0;
  };

  // The default limit of events. Viewers fail beyond a few gigabytes.
  static constexpr int64_t kMaxEvents = 10'000'000;

  // Creates the trace at `path`. Errors are kOutput and name the path.
  static absl::StatusOr<std::unique_ptr<ChromeTrace>> Create(const std::string& path,
                                                             int64_t max_events = kMaxEvents);

  // Name a process or a lane. Viewers order rows by the numbers of processes and lanes.
  void NameProcess(int64_t process, std::string_view name);
  void NameLane(const Lane& lane, std::string_view name);

  // Adds a slice from `begin` to `end`, in nanoseconds, not negative.
  void Slice(const Lane& lane, std::string_view name, int64_t begin, int64_t end,
             std::span<const Argument> arguments = {});
  // Add the two ends of an arrow between the slices that begin at `at`. Both ends must have the
  // same id.
  void FlowFrom(const Lane& lane, int64_t at, uint64_t id);
  void FlowTo(const Lane& lane, int64_t at, uint64_t id);

  // Returns the number of events beyond the limit, which are counted but not written.
  int64_t dropped() const { return dropped_; }

  // Completes the file. Must be called once, last. Returns the first error of any call.
  absl::Status Finish();

 private:
  ChromeTrace(std::unique_ptr<AtomicFile> file, int64_t max_events);

  // Begins one more event. Returns false and counts the event as dropped if there is no room for
  // it.
  bool Begin();
  void Flush(size_t at_least);
  void Metadata(std::string_view what, const Lane& lane, std::string_view name);
  void Flow(char phase, const Lane& lane, int64_t at, uint64_t id);

  std::unique_ptr<AtomicFile> file_;
  const int64_t most_events_;
  std::string pending_;
  int64_t events_ = 0;
  int64_t dropped_ = 0;
  absl::Status status_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_TRACE_CHROME_TRACE_H_
