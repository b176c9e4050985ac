// "Did you mean ...?"
#ifndef GRAPEVINE_BASE_NEAREST_NAME_H_
#define GRAPEVINE_BASE_NEAREST_NAME_H_

#include <string>
#include <string_view>
#include <vector>

namespace grapevine {

// The name that is fewest edits away from `typed` (insertions, deletions,
// substitutions, swaps of neighbours), or "" when none is close. The first of
// equals.
std::string NearestName(std::string_view typed, const std::vector<std::string>& names);

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_NEAREST_NAME_H_
