#include "tests/scenarios/script.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace grapevine::testing {
namespace {

constexpr char kDashes[] = "----";

bool IsProse(const std::string& line) { return line.empty() || line.front() == '#'; }

}  // namespace

Script ParseScript(std::string_view text) {
  const std::vector<std::string> lines = absl::StrSplit(std::string(text), '\n');
  Script script;
  ScriptBlock block;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (block.commands.empty() && IsProse(lines[i])) {
      block.prose.push_back(lines[i]);
      continue;
    }
    if (lines[i] != kDashes) {
      if (block.commands.empty()) block.line = static_cast<int>(i) + 1;
      block.commands.push_back(lines[i]);
      continue;
    }
    while (++i < lines.size() && !lines[i].empty()) absl::StrAppend(&block.output, lines[i], "\n");
    script.blocks.push_back(std::exchange(block, {}));
  }
  script.rest = std::move(block.prose);
  // The end of the last line is no line.
  if (!script.rest.empty() && script.rest.back().empty()) script.rest.pop_back();
  if (!block.commands.empty()) script.blocks.push_back(std::move(block));
  return script;
}

std::string FormatScript(const Script& script) {
  std::string text;
  for (const ScriptBlock& block : script.blocks) {
    if (&block != &script.blocks.front()) text += "\n";
    for (const std::string& line : block.prose) absl::StrAppend(&text, line, "\n");
    for (const std::string& line : block.commands) absl::StrAppend(&text, line, "\n");
    absl::StrAppend(&text, kDashes, "\n", block.output);
  }
  if (!script.rest.empty()) text += "\n";
  for (const std::string& line : script.rest) absl::StrAppend(&text, line, "\n");
  return text;
}

Script PlayScript(
    Script script,
    const std::function<std::string(const std::vector<std::string>& commands)>& play) {
  for (ScriptBlock& block : script.blocks) block.output = play(block.commands);
  return script;
}

}  // namespace grapevine::testing
