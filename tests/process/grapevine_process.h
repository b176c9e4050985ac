// The grapevine program under test, as a process in a session of its own.
//
// The session identifies everything that it started: its nodes, and any process that it left
// behind. Tests wait for conditions, with a deadline, never for a fixed time.
#ifndef GRAPEVINE_TESTS_PROCESS_GRAPEVINE_PROCESS_H_
#define GRAPEVINE_TESTS_PROCESS_GRAPEVINE_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "system/file_descriptor.h"
#include "tests/testing/slowness.h"

namespace grapevine::testing {

// Enough for a machine that is busy with other tests; more where TEST_SLOWNESS says so.
inline const std::chrono::seconds kPatience{60 * Slowness()};

// Polls until `condition` holds; false once `patience` is over.
bool Eventually(const std::function<bool()>& condition, std::chrono::seconds patience = kPatience);

// Thread-compatible. Failures to start are CHECKed.
class GrapevineProcess {
 public:
  struct Options {
    // Its path in Bazel's runfiles.
    std::string program = "grapevine";
    // Added to this process's environment, from which GRAPEVINE_* and ranks are removed.
    std::map<std::string, std::string> environment = {};
    // The most bytes that a file may have; writing more is an error.
    std::optional<size_t> largest_file = {};
    // Where standard output goes instead.
    std::string standard_output = {};
    // How long Await waits for its end.
    std::chrono::seconds patience = kPatience;
  };

  explicit GrapevineProcess(std::vector<std::string> arguments)
      : GrapevineProcess(std::move(arguments), Options()) {}
  // `arguments` come after the program's name.
  GrapevineProcess(std::vector<std::string> arguments, const Options& options);
  // Kills the whole session, and returns once nobody of it holds a port or a file any more.
  ~GrapevineProcess();
  GrapevineProcess(const GrapevineProcess&) = delete;
  GrapevineProcess& operator=(const GrapevineProcess&) = delete;

  pid_t pid() const { return pid_; }
  // What it and its nodes have written to both outputs so far.
  std::string output();
  // Whether `text` appears in the output; false if the program ended without it.
  bool AwaitOutput(const std::string& text);
  // Both outputs have no reader any more.
  void StopReading() { output_.Close(); }

  // The process of a rank that this one started; 0 if there is none.
  pid_t Node(int rank) const;
  void Signal(int signal) const;

  // The exit code, or 128 plus the signal that killed it; -1, with a note in the output, if it
  // does not end within its patience.
  int Await();
  // Living processes of the session, itself included; zombies do not count.
  std::vector<pid_t> Alive() const;
  bool AwaitNobody() const;

 private:
  bool Reap();
  void ReadAll();

  const std::chrono::seconds patience_;
  pid_t pid_;
  UniqueDescriptor output_;
  std::string text_;
  std::optional<int> exit_code_;
};

// Runs to the end.
struct Ended {
  int exit_code;
  std::string output;
};
Ended RunGrapevine(std::vector<std::string> arguments,
                   const GrapevineProcess::Options& options = {});

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_PROCESS_GRAPEVINE_PROCESS_H_
