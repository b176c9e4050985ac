// Log lines on stderr, as --log-level and --log-format want them, and lines of output as
// JSON objects.
//
// What makes or reads a line is a pure function, safe from any thread.
#ifndef GRAPEVINE_CLI_TERMINAL_LOGGING_H_
#define GRAPEVINE_CLI_TERMINAL_LOGGING_H_

#include <ostream>
#include <string>
#include <string_view>

#include "run/config/config.pb.h"
#include "run/records/metrics.h"
#include "system/background_writer.h"

namespace grapevine {

// {"time": (UTC), "level": …, "message": …}. An object in `text` stays what it is.
std::string JsonLine(std::string_view level, std::string_view text);
// Likewise of a line that a node printed, with its "rank".
std::string JsonLine(std::string_view level, std::string_view text, int rank);
// {"time", "level": "info", "metrics": {…}}
std::string JsonLine(const RunMetrics& metrics);

// The message of such a line; any other line itself.
std::string MessageOf(std::string_view line);

// From now on each line that goes to `stream` comes out as an object. For the rest of the
// process.
void UseJsonLines(std::ostream& stream, const char* level);

// Before anything logs: stderr only, warnings and worse, no log files.
void InitializeLogging(const char* program);

// Applies log_level and log_format (valid ones) of a configuration. JSON lines
// have "time" (UTC), "level", "file", "line" and "message"; what goes to std::cerr
// from then on is one, too (cli/terminal/logging.h).
void ConfigureLogging(const Config& config);

// While it lives, nobody who logs waits for the reader of the standard error; its end
// does. One at a time, after ConfigureLogging.
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
