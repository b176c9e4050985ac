// The output of a command's text of any length: standard output, whose errors count (a full disk
// behind it must not look like success), or a file that appears complete or not at all.
//
// Thread-safety: thread-compatible.
#ifndef GRAPEVINE_CLI_TERMINAL_TEXT_OUTPUT_H_
#define GRAPEVINE_CLI_TERMINAL_TEXT_OUTPUT_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "system/file.h"

namespace grapevine {

// Flushes std::cout and stdout. kOutput if that, or anything written to them before, failed. To be
// called from one thread.
absl::Status FlushStandardOutput();

class TextOutput {
 public:
  // Opens `path`, or standard output if `path` is empty or "-". Errors are kOutput.
  static absl::StatusOr<TextOutput> Open(const std::string& path);

  // Writes `text`; small pieces are buffered.
  absl::Status Append(std::string_view text);
  // Writes what is buffered. Must be called once, last; without this call the file does not appear.
  absl::Status Close();

 private:
  explicit TextOutput(std::unique_ptr<AtomicFile> file) : file_(std::move(file)) {}
  absl::Status Flush();

  std::unique_ptr<AtomicFile> file_;  // null for the standard output
  std::string pending_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_TEXT_OUTPUT_H_
