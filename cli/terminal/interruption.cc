#include "cli/terminal/interruption.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "base/failure.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

constexpr char kInterrupted[] = "interrupted (SIGINT)";
constexpr char kTerminated[] = "terminated (SIGTERM)";
constexpr char kHungUp[] = "terminated (SIGHUP)";

}  // namespace

absl::Status InterruptionStatus(int signal) {
  if (signal == SIGINT) {
    return InterruptedError(kInterrupted);
  }
  return WithFailure(absl::CancelledError(signal == SIGHUP ? kHungUp : kTerminated),
                     Failure::kTerminated);
}

bool TellsOfInterruption(std::string_view line) {
  return line.ends_with(kInterrupted) || line.ends_with(kTerminated) || line.ends_with(kHungUp);
}

absl::StatusOr<std::unique_ptr<Interruption>> Interruption::Watch(
    std::function<void(const absl::Status&)> interrupt) {
  ASSIGN_OR_RETURN(std::unique_ptr<SignalDescriptor> signals,
                   SignalDescriptor::Open({SIGINT, SIGTERM, SIGHUP}));
  UniqueDescriptor stop(eventfd(0, EFD_CLOEXEC));
  if (stop.get() < 0) return absl::ErrnoToStatus(errno, "cannot watch for signals");
  return std::unique_ptr<Interruption>(
      new Interruption(std::move(signals), std::move(stop), std::move(interrupt)));
}

Interruption::Interruption(std::unique_ptr<SignalDescriptor> signals, UniqueDescriptor stop,
                           std::function<void(const absl::Status&)> interrupt)
    : signals_(std::move(signals)), stop_(std::move(stop)), interrupt_(std::move(interrupt)) {
  thread_ = std::thread([this] { Loop(); });
}

Interruption::~Interruption() {
  const uint64_t one = 1;
  // An eventfd takes a write until its counter is full.
  (void)!write(stop_.get(), &one, sizeof(one));
  thread_.join();
}

void Interruption::Loop() {
  bool told = false;
  while (true) {
    pollfd watched[] = {{signals_->descriptor(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (poll(watched, 2, -1) < 0) continue;
    if (watched[1].revents != 0) return;
    const std::optional<int> signal = signals_->Read();
    if (!signal) continue;
    if (told && *signal == SIGHUP) continue;  // a closing terminal sends it more than once
    const absl::Status status = InterruptionStatus(*signal);
    if (std::exchange(told, true)) _exit(ExitCode(status));
    interrupt_(status);
  }
}

}  // namespace grapevine
