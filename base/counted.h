// Counts from outside (bytes, nanoseconds), which others are added to.
#ifndef GRAPEVINE_BASE_COUNTED_H_
#define GRAPEVINE_BASE_COUNTED_H_

#include <cstdint>

namespace grapevine {

// A link of a terabit a second carries as many bytes in three months; as nanoseconds, 36 years.
inline constexpr int64_t kMostCounted = int64_t{1} << 60;

// Whether a run can have counted that; with what any run adds, it stays a number.
constexpr bool CanBeCounted(int64_t count) { return count >= 0 && count <= kMostCounted; }

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_COUNTED_H_
