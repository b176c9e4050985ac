// Text to a descriptor whose reader may stall: a pager, a stopped terminal, a
// full pipe. A thread of its own writes, so that nobody else ever waits for it.
#ifndef GRAPEVINE_SYSTEM_BACKGROUND_WRITER_H_
#define GRAPEVINE_SYSTEM_BACKGROUND_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "system/mutex.h"

namespace grapevine {

// Thread-safe. What has no room takes the place of the oldest text that waits,
// whose absence a note says: what came last, and so the end of it all, is kept.
// A reader that goes away is an error (EPIPE), never a signal.
class BackgroundWriter {
 public:
  // What stands for `dropped` texts.
  using Note = std::function<std::string(int64_t dropped)>;
  static constexpr size_t kCapacity = size_t{1} << 20;  // bytes that wait

  // The descriptor stays the caller's and is open while this lives; errors call it
  // `name`.
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

 private:
  void Loop();
  // Waits for something to write; empty when there will be none.
  std::string Next();
  void OnWritten(absl::Status status);

  const int descriptor_;
  const std::string name_;
  const Note note_;
  const size_t capacity_;

  Mutex mutex_;
  Condition changed_;
  std::deque<std::string> waiting_ ABSL_GUARDED_BY(mutex_);
  size_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_BACKGROUND_WRITER_H_
