// WriteLoop does one write at a time on a stream whose writes complete later and are requested from
// any thread. The end of the loop waits for the pending write.
//
// Thread-safe. The callbacks are called without locks held, never two at a time.
#ifndef GRAPEVINE_NODE_TRANSPORT_GRPC_WRITE_LOOP_H_
#define GRAPEVINE_NODE_TRANSPORT_GRPC_WRITE_LOOP_H_

#include <functional>

#include "system/mutex.h"

namespace grapevine {

class WriteLoop {
 public:
  // `write_next` must begin a write if anything is to be written, and return whether it did.
  // `ended` is called once after Close or Finish, when no write is pending.
  WriteLoop(std::function<bool()> write_next, std::function<void()> ended)
      : write_next_(std::move(write_next)), ended_(std::move(ended)) {}

  // Tells the loop that there may be something to write.
  void Wake();
  // Tells the loop that the pending write has completed.
  void Written() { Run(); }
  // Closes the loop, which begins no further write.
  void Close();
  // Closes the loop once nothing more is to be written.
  void Finish();

 private:
  // Goes on writing. The loop must be busy.
  void Run();

  const std::function<bool()> write_next_;
  const std::function<void()> ended_;
  Mutex mutex_;
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;  // whether Wake was called while busy
  bool finishing_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_GRPC_WRITE_LOOP_H_
