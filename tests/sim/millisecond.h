// A unit of simulated time.
#ifndef GRAPEVINE_TESTS_SIM_MILLISECOND_H_
#define GRAPEVINE_TESTS_SIM_MILLISECOND_H_

#include "sim/nanoseconds.h"

namespace grapevine {

inline constexpr Nanoseconds kMillisecond = 1'000'000;

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_SIM_MILLISECOND_H_
