// Calls from this host to the doors of other hosts (probe_door.h). They find out whether a door is
// reached, whether the largest packets pass, how long small messages take and how many bytes
// arrive.
//
// Calls block: each wait lasts until its deadline or until `stop` is readable. Safe from any
// thread.
#ifndef GRAPEVINE_NODE_PROBE_PROBE_CALL_H_
#define GRAPEVINE_NODE_PROBE_PROBE_CALL_H_

#include "node/identity/authentication.h"
#include "node/probe/probe.pb.h"

namespace grapevine {

// Connects to a door and exchanges one packet of the largest size.
probe::Reached ReachDoor(const probe::Reach& reach, const RunToken& token, int stop);

// Measures the round trip of small messages, or the bytes that arrive, or both, as `stream` asks.
probe::Streamed StreamToDoor(const probe::Stream& stream, const RunToken& token, int stop);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_PROBE_PROBE_CALL_H_
