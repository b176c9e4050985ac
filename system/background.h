// Background work that callers do not wait for: a thread that runs jobs, and a writer to
// destinations that may stall.
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

// Runs jobs one after the other on a thread of its own. Thread-safe, but must not be used from a
// job.
class WorkerThread {
 public:
  WorkerThread();
  // Waits for the running job to end and drops the waiting ones.
  ~WorkerThread();
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  // Queues `job` without waiting. CHECK-fails if kMaxWaiting jobs are waiting: callers must bound
  // the number of jobs.
  void Do(std::function<void()> job);
  // Waits until all jobs are done. Returns false if they are not done by `deadline`.
  bool Drain(std::chrono::steady_clock::time_point deadline);

  static constexpr size_t kMaxWaiting = 16;

 private:
  void Loop();
  // Waits for the next job. Returns null when the thread must end.
  std::function<void()> Next();

  Mutex mutex_;
  Condition changed_;
  std::deque<std::function<void()>> waiting_ ABSL_GUARDED_BY(mutex_);
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// Writes text to a destination that may stall: a pager, a stopped terminal, a full pipe, a file
// system. A thread of its own writes, so that callers never wait. Thread-safe.
class BackgroundWriter {
 public:
  // Returns the line that replaces `dropped` texts.
  using Note = std::function<std::string(int64_t dropped)>;
  static constexpr size_t kCapacity = size_t{1} << 20;  // bytes waiting

  struct Options {
    // Writes one text, however long that takes. Called on the writer's thread.
    std::function<absl::Status(std::string_view text)> write;
    std::string name;             // name of the destination, for errors
    size_t capacity = kCapacity;  // bytes that may wait; one text may exceed it
    // Waiting texts are joined into one write until it has this many bytes; 0 writes them singly.
    size_t piece = 0;
    // If a new text exceeds the capacity, it displaces the oldest waiting ones, and this note
    // announces the gap. The latest text, and so the end of the output, is kept. If `note` is null,
    // nothing may be lost, and a text that exceeds the capacity is an error.
    Note note;
    // Called with the first error at once, on the thread that encounters it.
    std::function<void(const absl::Status&)> failed;
    // How long the destructor waits for a write that does not return. After that time it abandons
    // the thread together with `write`. Without a value it waits as long as the write takes.
    std::optional<std::chrono::nanoseconds> patience;
  };

  explicit BackgroundWriter(Options options);
  // Writes to a descriptor. The caller keeps its ownership and must leave it open during the
  // lifetime of the writer. Drops the oldest lines if the capacity is exceeded. A reader that goes
  // away causes an error (EPIPE), never a signal.
  BackgroundWriter(int descriptor, std::string name, Note note, size_t capacity = kCapacity);
  // Drains the writer, for at most Options::patience.
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  // Queues a text, which is written whole or not at all. Never waits for the reader.
  void Write(std::string text);

  // Waits until everything is written, however long the reader takes, as any program does at its
  // end. Returns the first error; nothing is written after an error.
  absl::Status Drain();
  // Waits at most until `deadline`. DeadlineExceeded says how long the current write has stalled.
  absl::Status Drain(std::chrono::steady_clock::time_point deadline);

 private:
  class Queue;

  const std::optional<std::chrono::nanoseconds> patience_;
  const std::shared_ptr<Queue> queue_;  // shared with the thread
  std::thread thread_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_BACKGROUND_H_
