#include "system/file_descriptor.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "absl/status/status.h"

namespace grapevine {

int WriteAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

void RaiseDescriptorLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

namespace {

// Whether SIGHUP is ignored, as nohup leaves it. If it were blocked, it would be delivered to the
// descriptor even though it is ignored.
bool HangUpIsIgnored() {
  struct sigaction current;
  return sigaction(SIGHUP, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SignalDescriptor>> SignalDescriptor::Open(
    std::initializer_list<int> signals) {
  sigset_t set, previous;
  sigemptyset(&set);
  for (const int signal : signals) {
    if (signal != SIGHUP || !HangUpIsIgnored()) sigaddset(&set, signal);
  }
  pthread_sigmask(SIG_BLOCK, &set, &previous);
  const int descriptor = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor < 0) {
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
    return absl::ErrnoToStatus(error, "cannot receive signals");
  }
  sigset_t own;
  sigemptyset(&own);
  for (const int signal : signals) {
    if (sigismember(&set, signal) == 1 && sigismember(&previous, signal) == 0) {
      sigaddset(&own, signal);
    }
  }
  return std::unique_ptr<SignalDescriptor>(new SignalDescriptor(descriptor, own, previous));
}

SignalDescriptor::~SignalDescriptor() {
  (void)signalfd(descriptor_, &own_, 0);
  while (Read()) {
  }
  close(descriptor_);
  pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

SignalsAreForOthers::SignalsAreForOthers() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous_);
}

SignalsAreForOthers::~SignalsAreForOthers() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }

std::optional<int> SignalDescriptor::Read() {
  signalfd_siginfo info;
  if (read(descriptor_, &info, sizeof(info)) != sizeof(info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace grapevine
