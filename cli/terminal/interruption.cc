#include "cli/terminal/interruption.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/status.h"

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
  return std::ranges::any_of(
      std::array<std::string_view, 3>{kInterrupted, kTerminated, kHungUp},
      [line](std::string_view words) { return line.find(words) != line.npos; });
}

absl::StatusOr<std::unique_ptr<Interruption>> Interruption::Watch(Call interrupt,
                                                                  std::optional<Saving> saving) {
  ASSIGN_OR_RETURN(std::unique_ptr<SignalDescriptor> signals,
                   SignalDescriptor::Open({SIGINT, SIGTERM, SIGHUP}));
  UniqueDescriptor stop(eventfd(0, EFD_CLOEXEC));
  if (stop.get() < 0) return absl::ErrnoToStatus(errno, "cannot watch for signals");
  return std::unique_ptr<Interruption>(new Interruption(std::move(signals), std::move(stop),
                                                        std::move(interrupt), std::move(saving)));
}

Interruption::Interruption(std::unique_ptr<SignalDescriptor> signals, UniqueDescriptor stop,
                           Call interrupt, std::optional<Saving> saving)
    : signals_(std::move(signals)),
      stop_(std::move(stop)),
      interrupt_(std::move(interrupt)),
      saving_(std::move(saving)) {
  thread_ = std::thread([this] { Loop(); });
}

Interruption::~Interruption() {
  const uint64_t one = 1;
  // An eventfd takes a write until its counter is full.
  (void)!write(stop_.get(), &one, sizeof(one));
  thread_.join();
}

void Interruption::Loop() {
  while (true) {
    pollfd watched[] = {{signals_->descriptor(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (poll(watched, 2, MillisecondsToWait()) < 0) continue;
    if (watched[1].revents != 0) return;
    JudgeSaving();
    if (const std::optional<int> signal = signals_->Read()) On(*signal);
  }
}

void Interruption::On(int signal) {
  if (told_ && signal == SIGHUP) return;  // a closing terminal sends SIGHUP more than once
  if (told_ && signal == SIGTERM && Echoes()) return;
  const absl::Status status = InterruptionStatus(signal);
  if (told_) _exit(ExitCode(status));
  told_ = status;
  told_at_ = Clock::now();
  if (signal != SIGTERM || !saving_) return interrupt_(status);
  saved_by_ = Clock::now() + saving_->patience;
  saving_->begin(status);
}

bool Interruption::Echoes() const {
  return saving_ && (saving_->launched || Clock::now() - told_at_ < saving_->echo);
}

void Interruption::JudgeSaving() {
  if (!saved_by_ || Clock::now() < *saved_by_) return;
  saved_by_.reset();
  interrupt_(*told_);
}

int Interruption::MillisecondsToWait() const {
  if (!saved_by_) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*saved_by_ - Clock::now());
  return static_cast<int>(std::max<int64_t>(left.count(), 0));
}

}  // namespace grapevine
