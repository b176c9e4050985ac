#include "tests/process/documentation.h"

#include <glog/logging.h>

#include <fstream>
#include <string_view>

namespace grapevine::testing {
namespace {

constexpr std::string_view kFence = "```";

}  // namespace

std::vector<std::string> Blocks(const std::string& page, const std::string& heading,
                                const std::string& language) {
  std::ifstream file(page);
  CHECK(file) << page;
  std::vector<std::string> blocks;
  bool found = false, in_section = false, in_block = false, wanted = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kFence)) {
      in_block = !in_block;
      wanted = in_block && in_section && line.substr(kFence.size()) == language;
      if (wanted) blocks.emplace_back();
    } else if (wanted) {
      blocks.back() += line + "\n";
    } else if (!in_block && line.starts_with("#")) {
      in_section = line == heading;
      found |= in_section;
    }
  }
  CHECK(found) << page << " has no \"" << heading << "\"";
  return blocks;
}

std::vector<HostCommand> Commands(const std::string& block) {
  constexpr std::string_view kPrompt = "$ ";
  std::vector<HostCommand> commands;
  for (size_t begin = 0; begin < block.size();) {
    const size_t end = block.find('\n', begin);
    const std::string line = block.substr(begin, end - begin);
    begin = end + 1;
    const size_t prompt = line.find(kPrompt), blank = line.find(' ');
    if (prompt != std::string::npos && prompt < blank) {
      commands.push_back({line.substr(0, prompt), line.substr(prompt + kPrompt.size())});
    } else {
      CHECK(!commands.empty()) << "no prompt: " << line;
      commands.back().command += "\n" + line;  // after a line that ends in a backslash
    }
  }
  return commands;
}

}  // namespace grapevine::testing
