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

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_PROCESS_DOCUMENTATION_H_
