#include "algorithm/message.h"

#include "absl/strings/str_cat.h"

namespace grapevine {

std::string Describe(const Tag& tag) {
  return absl::StrCat("channel ", tag.channel, ", index ", tag.index, ", step ", tag.step);
}

int64_t BytesOf(const Payload& payload) {
  return std::visit(
      [](const Part& part) { return part.size * static_cast<int64_t>(sizeof(float)); }, payload);
}

}  // namespace grapevine
