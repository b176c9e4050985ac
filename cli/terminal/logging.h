// Log lines on stderr, as --log-level and --log-format want them.
//
// One setting per process, made before threads log.
#ifndef GRAPEVINE_CLI_TERMINAL_LOGGING_H_
#define GRAPEVINE_CLI_TERMINAL_LOGGING_H_

#include "run/config/config.pb.h"
#include "system/background_writer.h"

namespace grapevine {

// Before anything logs: stderr only, warnings and worse, no log files.
void InitializeLogging(const char* program);

// Applies the (valid) log_level and log_format of a configuration. JSON lines have "time" (UTC),
// "level", "file", "line" and "message"; with them, what is written to std::cerr from then on
// becomes objects too (json_lines.h).
void ConfigureLogging(const Config& config);

// While it lives, logging never waits for the reader of standard error; its destructor does. One
// at a time, after ConfigureLogging.
class BackgroundLog {
 public:
  explicit BackgroundLog(BackgroundWriter::Note note);
  ~BackgroundLog();
  BackgroundLog(const BackgroundLog&) = delete;
  BackgroundLog& operator=(const BackgroundLog&) = delete;

 private:
  BackgroundWriter writer_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_LOGGING_H_
