// Work that nobody is to wait for: jobs, one after the other, and writing to what may stall.
#ifndef GRAPEVINE_SYSTEM_BACKGROUND_H_
#define GRAPEVINE_SYSTEM_BACKGROUND_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "system/mutex.h"

namespace grapevine {

// Does one job after the other on a thread of its own. Thread-safe; not from a job.
class WorkerThread {
 public:
  WorkerThread();
  // Ends the job that is under way, and drops those that wait.
  ~WorkerThread();
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  // Never waits. Callers bound what they ask for: CHECKs that few wait.
  void Do(std::function<void()> job);
  // Waits until all are done; false if that takes longer.
  bool Drain(std::chrono::steady_clock::time_point deadline);

  static constexpr size_t kMaxWaiting = 16;

 private:
  void Loop();
  // The next job; none when the thread is to end.
  std::function<void()> Next();

  Mutex mutex_;
  Condition changed_;
  std::deque<std::function<void()>> waiting_ ABSL_GUARDED_BY(mutex_);
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// Writes text to what may stall: a pager, a stopped terminal, a full pipe, a file system. Its
// own thread does the writing, so that nobody else ever waits.
// Thread-safe.
class BackgroundWriter {
 public:
  // The line that replaces `dropped` texts.
  using Note = std::function<std::string(int64_t dropped)>;
  static constexpr size_t kCapacity = size_t{1} << 20;  // bytes waiting

  struct Options {
    // Writes one text, for as long as that takes; on the writer's thread.
    std::function<absl::Status(std::string_view text)> write;
    std::string name;  // the destination's, for errors
    size_t capacity = kCapacity;
    // How many bytes of texts may be written at once.
    size_t piece = 0;
    // When there is no room, a new text displaces the oldest waiting ones, and this announces
    // the gap: the latest text, and so the end of the output, is kept. Null: nothing may be
    // lost, and a text without room is an error.
    Note note;
    // Told the first error at once, on the thread that met it.
    std::function<void(const absl::Status&)> failed;
    // How long destruction waits for a write that does not return. After that its thread is
    // abandoned, with `write`. Without a value: as long as it takes.
    std::optional<std::chrono::nanoseconds> patience;
  };

  explicit BackgroundWriter(Options options);
  // To a descriptor, which stays the caller's and must be open as long as this lives. Drops the
  // oldest lines. A reader that goes away is an error (EPIPE), never a signal.
  BackgroundWriter(int descriptor, std::string name, Note note, size_t capacity = kCapacity);
  // Drains.
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  // Never waits for the reader. A text is written whole or not at all.
  void Write(std::string text);

  // Waits until everything has been written, for as long as the reader takes, as
  // any program does at its end. The first error, after which nothing is written.
  absl::Status Drain();
  // At most until then: DeadlineExceeded says how long nothing has moved.
  absl::Status Drain(std::chrono::steady_clock::time_point deadline);

 private:
  class Queue;

  const std::optional<std::chrono::nanoseconds> patience_;
  const std::shared_ptr<Queue> queue_;  // the thread's, too
  std::thread thread_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_BACKGROUND_H_
