// "4x8": the sides of a grid.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_TOPOLOGY_SIDES_H_
#define GRAPEVINE_TOPOLOGY_SIDES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/spec.h"

namespace grapevine {

// Parses the sides in `text`. Every side must be at least 1, and their product must fit a Rank.
// Errors quote `spec`.
absl::StatusOr<std::vector<Rank>> ParseSides(const Spec& spec, const std::string& text);

// Returns the two sides of a grid of n nodes that are nearest to each other, the smaller first.
std::vector<Rank> NearSquareSides(Rank n);

// Returns the product of sides that ParseSides returned.
Rank ProductOf(std::span<const Rank> sides);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_SIDES_H_
