// Simulated time.
#ifndef GRAPEVINE_SIM_NANOSECONDS_H_
#define GRAPEVINE_SIM_NANOSECONDS_H_

#include <cstdint>

namespace grapevine {

// Time since the start of the simulation, or a duration. Times are integers, so that the same
// configuration gives the same times on every machine. 292 years fit.
using Nanoseconds = int64_t;

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_NANOSECONDS_H_
