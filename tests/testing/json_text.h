// JSON that runs and commands have written, for tests. Parsed here alone: a file that does it
// compiles the whole parser.
#ifndef GRAPEVINE_TESTS_TESTING_JSON_TEXT_H_
#define GRAPEVINE_TESTS_TESTING_JSON_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace grapevine::testing {

// Of other text the test fails, and the value is discarded.
nlohmann::json JsonOf(const std::string& text);

// An object a line; a line that is none fails the test.
std::vector<nlohmann::json> JsonLinesOf(const std::string& text);
// Of the file at `path`.
std::vector<nlohmann::json> JsonLines(const std::string& path);

// summary.json of the run at `path`.
nlohmann::json SummaryOf(const std::string& path);

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_TESTING_JSON_TEXT_H_
