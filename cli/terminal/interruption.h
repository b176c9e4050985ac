// Turns SIGINT, SIGTERM and SIGHUP into a call, on a thread of its own.
#ifndef GRAPEVINE_CLI_TERMINAL_INTERRUPTION_H_
#define GRAPEVINE_CLI_TERMINAL_INTERRUPTION_H_

#include <functional>
#include <memory>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "system/file_descriptor.h"
#include "system/signal_descriptor.h"

namespace grapevine {

// What one of these signals ends a program with: kInterrupted, else kTerminated.
absl::Status InterruptionStatus(int signal);

// While it lives, the first SIGINT, SIGTERM or SIGHUP calls `interrupt` with a status
// that says which (kInterrupted, else kTerminated); a second SIGINT or SIGTERM ends the
// process at once with that exit code. Made before other threads exist.
class Interruption {
 public:
  static absl::StatusOr<std::unique_ptr<Interruption>> Watch(
      std::function<void(const absl::Status&)> interrupt);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

 private:
  Interruption(std::unique_ptr<SignalDescriptor> signals, UniqueDescriptor stop,
               std::function<void(const absl::Status&)> interrupt);
  void Loop();

  const std::unique_ptr<SignalDescriptor> signals_;
  const UniqueDescriptor stop_;  // an eventfd
  const std::function<void(const absl::Status&)> interrupt_;
  std::thread thread_;
};

// Whether a line of a node's output only says that it, or another node, was told
// to end.
bool TellsOfInterruption(std::string_view line);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_INTERRUPTION_H_
