// Lines of output as JSON objects, for --log-format=json.
//
// Pure functions, safe from any thread, but for UseJsonLines.
#ifndef GRAPEVINE_CLI_TERMINAL_JSON_LINE_H_
#define GRAPEVINE_CLI_TERMINAL_JSON_LINE_H_

#include <ostream>
#include <string>
#include <string_view>

#include "run/records/metrics.h"

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

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_JSON_LINE_H_
