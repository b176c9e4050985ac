// A program run as a child process that cannot outlive its parent, and the lines that it
// prints.
#ifndef GRAPEVINE_SYSTEM_CHILD_PROCESS_H_
#define GRAPEVINE_SYSTEM_CHILD_PROCESS_H_

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "system/file_descriptor.h"

namespace grapevine {

struct ChildCommand {
  std::string executable;                     // a path; no search
  std::vector<std::string> arguments;         // with the program's name first
  std::vector<std::string> environment = {};  // the whole of it, "NAME=value"
  std::vector<int> inherited = {};            // stay open under their numbers
  std::optional<int> cpu = {};                // the only core it may use
  bool fed = false;                           // input() is its input, not /dev/null
};

// The child gets a process group of its own (so that the terminal's Ctrl-C reaches the parent
// alone) and no blocked signals. It is killed when it is destroyed here, and by the kernel when the
// *thread* that started it ends, however it ends.
//
// Thread-compatible.
class ChildProcess {
 public:
  // Errors name the executable, also when it could not be executed.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const ChildCommand& command);
  // Kills and reaps the child unless that has happened.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Non-blocking ends of pipes; of its input only where it is fed.
  UniqueDescriptor& input() { return input_; }
  UniqueDescriptor& output() { return output_; }
  UniqueDescriptor& errors() { return errors_; }

  // Does nothing after it was reaped.
  void Signal(int signal);
  // Reaps the child when it has ended. Its wait status once reaped.
  std::optional<int> Poll();
  // Whether a signal holds it (SIGSTOP).
  bool Stopped() const;

 private:
  ChildProcess(pid_t pid, UniqueDescriptor input, UniqueDescriptor output, UniqueDescriptor errors)
      : pid_(pid),
        input_(std::move(input)),
        output_(std::move(output)),
        errors_(std::move(errors)) {}

  const pid_t pid_;
  UniqueDescriptor input_, output_, errors_;
  std::optional<int> wait_status_;
};

// Lines out of a non-blocking descriptor. Thread-compatible.
class LineReader {
 public:
  // Without the line break. A line longer than kMaxLine comes in pieces.
  using OnLine = std::function<void(std::string_view line)>;

  explicit LineReader(OnLine on_line) : on_line_(std::move(on_line)) {}

  // Reads what is available, at most kMaxBurst, so that one busy writer does not starve the
  // others. Closes the descriptor at end of file, after a last line without a break.
  void Read(UniqueDescriptor& descriptor);

  static constexpr size_t kMaxLine = 16384;
  static constexpr size_t kMaxBurst = 262144;

 private:
  void Take(std::string_view bytes);
  void Flush();

  OnLine on_line_;
  std::string partial_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_CHILD_PROCESS_H_
