#include "node/transport/chunk.h"

#include "absl/strings/str_cat.h"

namespace grapevine {

std::string Describe(Tag tag) {
  return absl::StrCat("round ", tag.round, ", channel ", tag.channel, ", step ", tag.step);
}

}  // namespace grapevine
