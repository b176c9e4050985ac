// Scripts in the manner of etcd raft: commands, a line of dashes, and their output.
//
//   # Prose, which is kept.
//   deliver 1 to 0
//   ----
//   0: receives round 0 from 1
//
// A block ends with an empty line. Output has no empty lines.
//
// Plain values and pure functions.
#ifndef GRAPEVINE_TESTS_SCENARIOS_SCRIPT_H_
#define GRAPEVINE_TESTS_SCENARIOS_SCRIPT_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace grapevine::testing {

struct ScriptBlock {
  int line = 0;                    // of its first command
  std::vector<std::string> prose;  // comments and empty lines before it
  std::vector<std::string> commands;
  std::string output;  // expected; every line ends with a line break
};

struct Script {
  std::vector<ScriptBlock> blocks;
  std::vector<std::string> rest;  // after the last block
};

Script ParseScript(std::string_view text);
std::string FormatScript(const Script& script);

// The script with the output of `play` for each block's commands.
Script PlayScript(Script script,
                  const std::function<std::string(const std::vector<std::string>& commands)>& play);

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_SCENARIOS_SCRIPT_H_
