// A file descriptor with an owner, writing to one, how many this process may have open, and
// signals as one.
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

// Closed on destruction; -1 is none. Thread-compatible.
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

// Writes all bytes, however often the system interrupts; returns 0 or the errno, after which a part
// may have been written. Thread-safe.
int WriteAll(int descriptor, std::string_view bytes);

// Raises the soft limit, which is low for the sake of programs that use select(), to
// the hard one. Where that fails it stays as it was. Thread-safe.
void RaiseDescriptorLimit();

// Signals as something to poll: blocked for this thread and read from a
// descriptor, so that no handler ever runs.
//
// Blocks the signals in the calling thread, and in those that it starts, from Open to
// destruction; open it before other threads exist, because a thread that does not block them
// would receive them. Signals still unread at destruction are dropped, except
// those that were blocked before: they are for whoever blocks them. A SIGHUP that the process
// ignores stays ignored. Read by one thread, destroyed by the one that opened it.
class SignalDescriptor {
 public:
  static absl::StatusOr<std::unique_ptr<SignalDescriptor>> Open(std::initializer_list<int> signals);
  ~SignalDescriptor();
  SignalDescriptor(const SignalDescriptor&) = delete;
  SignalDescriptor& operator=(const SignalDescriptor&) = delete;

  // Readable when a signal is pending.
  int descriptor() const { return descriptor_; }
  // The next signal; does not block.
  std::optional<int> Read();

 private:
  SignalDescriptor(int descriptor, const sigset_t& own, const sigset_t& previous)
      : descriptor_(descriptor), own_(own), previous_(previous) {}

  const int descriptor_;
  const sigset_t own_;  // those that nobody had blocked
  const sigset_t previous_;
};

// Threads that its thread starts while one lives never take a signal: one that is sent to the
// process goes to any thread that does not block it, and would pass by a SignalDescriptor.
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
