// Runs a program as a child process that cannot outlive its parent, and reads the lines that it
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
  std::string executable;                     // a path; PATH is not searched
  std::vector<std::string> arguments;         // with the program's name first
  std::vector<std::string> environment = {};  // the whole environment, as "NAME=value"
  std::vector<int> inherited = {};            // descriptors that stay open under their numbers
  std::optional<int> cpu = {};                // the only core that the child may use
  bool fed = false;                           // the child reads input() instead of /dev/null
};

// A child process. It gets a process group of its own, so that the terminal's Ctrl-C reaches the
// parent alone, and no blocked signals. The destructor kills it; the kernel kills it when the
// *thread* that started it ends, however that thread ends.
//
// Thread-compatible.
class ChildProcess {
 public:
  // Starts a child. Errors name the executable, also if it cannot be executed.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const ChildCommand& command);
  // Kills and reaps the child unless it is reaped already.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Return this process's non-blocking ends of the child's pipes. input() is open only if
  // ChildCommand::fed was set.
  UniqueDescriptor& input() { return input_; }
  UniqueDescriptor& output() { return output_; }
  UniqueDescriptor& errors() { return errors_; }

  // Sends a signal to the child. Does nothing after the child is reaped.
  void Signal(int signal);
  // Reaps the child if it has ended. Returns its wait status once it is reaped.
  std::optional<int> Poll();
  // Whether a signal (SIGSTOP) has stopped the child.
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

// Reads lines from a non-blocking descriptor. Thread-compatible.
class LineReader {
 public:
  // Receives a line without its line break. A line longer than kMaxLine bytes comes in pieces.
  using OnLine = std::function<void(std::string_view line)>;

  explicit LineReader(OnLine on_line) : on_line_(std::move(on_line)) {}

  // Reads the available bytes, at most kMaxBurst, so that one busy writer does not starve the
  // others. Closes the descriptor at end of file and passes on a last line without a line break.
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
