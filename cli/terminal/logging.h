// Log lines on standard error, and lines of output as JSON objects for programs that read them, as
// --log-level and --log-format ask for them.
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

// Makes logs go to standard error only, warnings and worse, without log files. Must be called
// before anything logs.
void InitializeLogging(const char* program);

// Applies the (valid) log_level and log_format of a configuration. JSON lines have "time" (UTC),
// "level", "file", "line" and "message". With JSON, lines written to std::cerr from then on become
// objects too (UseJsonLines).
void ConfigureLogging(const Config& config);

// While a BackgroundLog lives, logging never waits for the reader of standard error; its destructor
// does. Only one may live at a time, made after ConfigureLogging.
class BackgroundLog {
 public:
  explicit BackgroundLog(BackgroundWriter::Note note);
  ~BackgroundLog();
  BackgroundLog(const BackgroundLog&) = delete;
  BackgroundLog& operator=(const BackgroundLog&) = delete;

 private:
  BackgroundWriter writer_;
};

// Returns a line of output as a JSON object: {"time": (UTC), "level": …, "message": …}. If `text`
// is a JSON object, it is used as it is.
std::string JsonLine(std::string_view level, std::string_view text);
// Returns a line that a node printed as a JSON object, with the "rank" of the node.
std::string JsonLine(std::string_view level, std::string_view text, int rank);
// Returns measurements as a JSON object: {"time", "level": "info", "metrics": {…}}.
std::string JsonLine(const RunMetrics& metrics);

// Returns the message of a line that JsonLine has made; any other line unchanged.
std::string MessageOf(std::string_view line);

// Makes each line written to `stream` come out as a JSON object, from now on until the process
// ends.
void UseJsonLines(std::ostream& stream, const char* level);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_LOGGING_H_
