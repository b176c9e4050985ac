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

// Returns the status with which SIGINT, SIGTERM or SIGHUP ends a program: kInterrupted for SIGINT,
// else kTerminated.
absl::Status InterruptionStatus(int signal);

// While an Interruption lives, the first SIGINT, SIGTERM or SIGHUP calls `interrupt` with the
// status that says which (kInterrupted, else kTerminated); a second SIGINT or SIGTERM ends the
// process at once with that exit code. Must be made before other threads exist.
class Interruption {
 public:
  using Call = std::function<void(const absl::Status&)>;

  // How a program ends that saves first.
  struct Saving {
    // Called in place of `interrupt` at SIGTERM: the program is to end by itself when it has saved.
    Call begin;
    // The time from SIGTERM in which the program has to save; after it, `interrupt` is called.
    std::chrono::milliseconds patience{};
    // Whether the program has a launcher, which passes SIGTERM on and kills at a second one. A job
    // manager that tells all processes of a job sends SIGTERM here, too, so that a second one here
    // says nothing.
    bool launched = false;
    // The time in which a second SIGTERM only repeats the first: job managers tell all processes,
    // and launchers among them pass the signal on.
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
  // Returns whether SIGTERM, after `told_`, says nothing new.
  bool Echoes() const;
  // Interrupts a program that has not saved in time.
  void JudgeSaving();
  int MillisecondsToWait() const;

  const std::unique_ptr<SignalDescriptor> signals_;
  const UniqueDescriptor stop_;  // an eventfd
  const Call interrupt_;
  const std::optional<Saving> saving_;
  // Members that only the thread uses:
  std::optional<absl::Status> told_;  // the first signal
  Clock::time_point told_at_;
  std::optional<Clock::time_point> saved_by_;
  std::thread thread_;
};

// Returns whether a line of a node's output says no more than that this node, or another, was told
// to end, and what follows from that.
bool TellsOfInterruption(std::string_view line);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_INTERRUPTION_H_
