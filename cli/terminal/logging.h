// Log lines on stderr, and lines of output as JSON objects for programs that read them, as
// --log-level and --log-format want them.
//
// One setting per process, made before threads log. The functions that make or read a JSON line are
// pure, safe from any thread.
#ifndef GRAPEVINE_CLI_TERMINAL_LOGGING_H_
#define GRAPEVINE_CLI_TERMINAL_LOGGING_H_

#include <ostream>
#include <string>
#include <string_view>

#include "run/config/config.pb.h"
#include "run/records/metrics.h"
#include "system/background.h"

namespace grapevine {

// Before anything logs: stderr only, warnings and worse, no log files.
void InitializeLogging(const char* program);

// Applies the (valid) log_level and log_format of a configuration. JSON lines have "time" (UTC),
// "level", "file", "line" and "message"; with them, what is written to std::cerr from then on
// becomes objects too (UseJsonLines).
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

// A line of output as a JSON object: {"time": (UTC), "level": …, "message": …}. If `text` is an
// object, it is used as it is.
std::string JsonLine(std::string_view level, std::string_view text);
// The same for a line that a node printed, with its "rank".
std::string JsonLine(std::string_view level, std::string_view text, int rank);
// {"time", "level": "info", "metrics": {…}}
std::string JsonLine(const RunMetrics& metrics);

// The message of such a line; any other line unchanged.
std::string MessageOf(std::string_view line);

// From now on, until the process ends, each line written to `stream` comes out as an object.
void UseJsonLines(std::ostream& stream, const char* level);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_LOGGING_H_
