// Owns file descriptors, writes to them, raises the number that this process may have open, and
// receives signals through one.
#ifndef GRAPEVINE_SYSTEM_FILE_DESCRIPTOR_H_
#define GRAPEVINE_SYSTEM_FILE_DESCRIPTOR_H_

#include <signal.h>
#include <unistd.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

namespace grapevine {

// Owns a file descriptor and closes it on destruction; -1 stands for none. Thread-compatible.
class UniqueDescriptor {
 public:
  UniqueDescriptor() = default;
  explicit UniqueDescriptor(int descriptor) : descriptor_(descriptor) {}
  UniqueDescriptor(UniqueDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  UniqueDescriptor& operator=(UniqueDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~UniqueDescriptor() { Close(); }

  int get() const { return descriptor_; }
  bool open() const { return descriptor_ >= 0; }
  void Close() {
    if (open()) close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_ = -1;
};

// Writes all bytes, however often signals interrupt the writing. Returns 0, or the errno of an
// error, in which case a part of the bytes may have been written. Thread-safe.
int WriteAll(int descriptor, std::string_view bytes);

// Raises the soft limit of open descriptors, which is low for the sake of programs that use
// select(), to the hard limit. Leaves the limit as it was if that fails. Thread-safe.
void RaiseDescriptorLimit();

// Makes signals available through a descriptor that can be polled. The signals are blocked, so that
// no handler ever runs.
//
// Blocks the signals in the calling thread, and in the threads that it starts, from Open to
// destruction. Open it before other threads exist, because a thread that does not block the signals
// would receive them. Signals still unread at destruction are dropped, except signals that were
// blocked before Open, which are left to the code that blocked them. A SIGHUP that the process
// ignores stays ignored. One thread may read, and the thread that opened it must destroy it.
class SignalDescriptor {
 public:
  static absl::StatusOr<std::unique_ptr<SignalDescriptor>> Open(std::initializer_list<int> signals);
  ~SignalDescriptor();
  SignalDescriptor(const SignalDescriptor&) = delete;
  SignalDescriptor& operator=(const SignalDescriptor&) = delete;

  // Returns the descriptor, which is readable when a signal is pending.
  int descriptor() const { return descriptor_; }
  // Returns the next signal, or nothing if none is pending. Does not block.
  std::optional<int> Read();

 private:
  SignalDescriptor(int descriptor, const sigset_t& own, const sigset_t& previous)
      : descriptor_(descriptor), own_(own), previous_(previous) {}

  const int descriptor_;
  const sigset_t own_;  // the signals that were not blocked before Open
  const sigset_t previous_;
};

// Blocks all signals in the current thread during its lifetime, so that threads started meanwhile
// never take a signal. A signal sent to the process goes to any thread that does not block it, and
// would otherwise bypass a SignalDescriptor.
class SignalsAreForOthers {
 public:
  SignalsAreForOthers();
  ~SignalsAreForOthers();
  SignalsAreForOthers(const SignalsAreForOthers&) = delete;
  SignalsAreForOthers& operator=(const SignalsAreForOthers&) = delete;

 private:
  sigset_t previous_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_FILE_DESCRIPTOR_H_
