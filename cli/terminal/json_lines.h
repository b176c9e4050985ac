// Lines of output as JSON objects, one a line, for programs that read them (--log-format=json).
//
// The functions that make or read a line are pure, safe from any thread.
#ifndef GRAPEVINE_CLI_TERMINAL_JSON_LINES_H_
#define GRAPEVINE_CLI_TERMINAL_JSON_LINES_H_

#include <ostream>
#include <string>
#include <string_view>

#include "run/records/metrics.h"

namespace grapevine {

// {"time": (UTC), "level": …, "message": …}. If `text` is an object, it is used as it is.
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

#endif  // GRAPEVINE_CLI_TERMINAL_JSON_LINES_H_
