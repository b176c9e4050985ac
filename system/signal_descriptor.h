// Signals as something to poll: blocked for this thread and read from a
// descriptor, so that no handler ever runs.
#ifndef GRAPEVINE_SYSTEM_SIGNAL_DESCRIPTOR_H_
#define GRAPEVINE_SYSTEM_SIGNAL_DESCRIPTOR_H_

#include <signal.h>

#include <initializer_list>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"

namespace grapevine {

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

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_SIGNAL_DESCRIPTOR_H_
