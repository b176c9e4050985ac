#include "algorithm/message.h"

#include "absl/strings/str_cat.h"

namespace grapevine {

std::string Describe(const Tag& tag) {
  return absl::StrCat("channel ", tag.channel, ", index ", tag.index, ", step ", tag.step);
}

}  // namespace grapevine
