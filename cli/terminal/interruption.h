// Turns SIGINT, SIGTERM and SIGHUP into a call, on a thread of its own.
#ifndef GRAPEVINE_CLI_TERMINAL_INTERRUPTION_H_
#define GRAPEVINE_CLI_TERMINAL_INTERRUPTION_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "system/file_descriptor.h"

namespace grapevine {

// What one of these signals ends a program with: kInterrupted, else kTerminated.
absl::Status InterruptionStatus(int signal);

// While it lives, the first SIGINT, SIGTERM or SIGHUP calls `interrupt` with a status
// that says which (kInterrupted, else kTerminated); a second SIGINT or SIGTERM ends the
// process at once with that exit code. Made before other threads exist.
class Interruption {
 public:
  using Call = std::function<void(const absl::Status&)>;

  // A program that saves before it ends.
  struct Saving {
    // In place of `interrupt` at SIGTERM: the program is to end by itself when it has saved.
    Call begin;
    // If it has not by then, `interrupt` is called.
    std::chrono::milliseconds patience{};
    // It has a launcher, which passes SIGTERM on and kills at a second one. Whoever tells all
    // processes of a job sends it here, too, so that a second one here says nothing.
    bool launched = false;
    // A second SIGTERM that comes sooner is no second word: job managers tell all processes, and
    // launchers among them pass it on.
    std::chrono::milliseconds echo{};
  };

  static absl::StatusOr<std::unique_ptr<Interruption>> Watch(
      Call interrupt, std::optional<Saving> saving = std::nullopt);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  Interruption(std::unique_ptr<SignalDescriptor> signals, UniqueDescriptor stop, Call interrupt,
               std::optional<Saving> saving);
  void Loop();
  void On(int signal);
  // Whether SIGTERM, after `told_`, says nothing new.
  bool Echoes() const;
  // Interrupts a program that has not saved in time.
  void JudgeSaving();
  int MillisecondsToWait() const;

  const std::unique_ptr<SignalDescriptor> signals_;
  const UniqueDescriptor stop_;  // an eventfd
  const Call interrupt_;
  const std::optional<Saving> saving_;
  // The thread's:
  std::optional<absl::Status> told_;  // the first signal
  Clock::time_point told_at_;
  std::optional<Clock::time_point> saved_by_;
  std::thread thread_;
};

// Whether a line of a node's output only says that it, or another node, was told to end, and what
// follows from that.
bool TellsOfInterruption(std::string_view line);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_INTERRUPTION_H_
