// Which random schedules a test plays, and how many, where its environment says so.
#ifndef GRAPEVINE_TESTS_NODE_WHOLE_NODE_SEED_VARIABLE_H_
#define GRAPEVINE_TESTS_NODE_WHOLE_NODE_SEED_VARIABLE_H_

#include <cstdint>
#include <cstdlib>
#include <optional>

namespace grapevine::testing {

inline std::optional<uint64_t> SeedVariable(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? std::nullopt : std::optional<uint64_t>(std::strtoull(text, nullptr, 10));
}

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_WHOLE_NODE_SEED_VARIABLE_H_
