// A directed link of a physical network.
#ifndef GRAPEVINE_SIM_PLATFORM_LINK_H_
#define GRAPEVINE_SIM_PLATFORM_LINK_H_

#include <cstdint>

#include "sim/nanoseconds.h"

namespace grapevine {

// Links of a network are counted from 0.
using LinkId = uint32_t;

struct Link {
  double capacity = 0;  // goodput, bytes per nanosecond
  Nanoseconds latency = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_LINK_H_
