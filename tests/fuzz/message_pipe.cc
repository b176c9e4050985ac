// What an agent on another host, or whatever answers there, says to a launcher
// (node/launch/message_pipe.h).
#include "node/launch/message_pipe.h"

#include <glog/logging.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "node/launch/agent.h"
#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

// Everything that comes, with the error that ends it, if any.
std::vector<std::string> Heard(std::string_view bytes, size_t at_once) {
  MessageReader reader;
  std::vector<std::string> heard;
  bool greeted = false;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(at_once, bytes.size()))) {
    reader.Take(bytes.substr(0, at_once));
    while (true) {
      const auto next = greeted ? reader.Next() : reader.Greeting(kAgentGreeting);
      if (!next.ok()) {
        heard.push_back(std::string(next.status().message()));
        return heard;
      }
      if (!*next) break;
      CHECK_LE((*next)->size(), MessageReader::kMaxMessage);
      greeted = true;
      heard.push_back(**next);
    }
  }
  return heard;
}

// However it is cut, it says the same.
FUZZ_TARGET(message_pipe) {
  const std::string_view bytes = fuzz::Text(data, size);
  CHECK(Heard(bytes, 1) == Heard(bytes, size));
}

}  // namespace
}  // namespace grapevine
