// What the documentation tells its readers to type, so that a test does exactly that.
#ifndef GRAPEVINE_TESTS_PROCESS_DOCUMENTATION_H_
#define GRAPEVINE_TESTS_PROCESS_DOCUMENTATION_H_

#include <string>
#include <vector>

namespace grapevine::testing {

// The fenced blocks of `language` ("sh", "textproto", "" for none) below the heading `heading`
// ("## TLS") of a page, up to the next heading of any level. The page and the heading must exist.
std::vector<std::string> Blocks(const std::string& page, const std::string& heading,
                                const std::string& language);

struct HostCommand {
  std::string host;  // "node1"
  std::string command;
};

// The commands of a block whose lines begin with a prompt: "node1$ grapevine ...".
std::vector<HostCommand> Commands(const std::string& block);

// Commands of a page, and what the page shows of their output.
struct Step {
  int line;              // of the page, from 1
  std::string commands;  // of an "sh" block
  std::string shown;     // of the "text" block after it; empty if there is none
};

// Of the whole page, which must exist, in its order.
std::vector<Step> Steps(const std::string& page);

// The first line of `shown` that is not in `output` after those before it; empty if all are. Blanks
// count as one, "…" is any text, and a number is like another that differs by a fifth at most.
// Times (with their units) and samples a second are what they are: all are alike.
std::string FirstMissing(const std::string& shown, const std::string& output);

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_PROCESS_DOCUMENTATION_H_
