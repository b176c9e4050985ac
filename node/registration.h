// Whether a node fits into the run that it wants to join.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_NODE_REGISTRATION_H_
#define GRAPEVINE_NODE_REGISTRATION_H_

#include <string>

#include "node/control.pb.h"

namespace grapevine {

inline constexpr uint32_t kControlProtocolVersion = 1;

// Why the node of `given` cannot be in the run of `own` (rank 0's own
// registration): the field, both values and the remedy. Empty when it fits.
std::string Objection(const control::Registration& own, const control::Registration& given);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_REGISTRATION_H_
