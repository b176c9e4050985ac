// Calls from this host to the doors of others (probe_door.h): whether they are reached, whether the
// largest packets pass, how long small ones take and how many bytes get there.
//
// They block, each wait until its deadline or until `stop` is readable. Functions are safe from any
// thread.
#ifndef GRAPEVINE_NODE_PROBE_PROBE_CALL_H_
#define GRAPEVINE_NODE_PROBE_PROBE_CALL_H_

#include "node/identity/authentication.h"
#include "node/probe/probe.pb.h"

namespace grapevine {

probe::Reached ReachDoor(const probe::Reach& reach, const RunToken& token, int stop);

probe::Streamed StreamToDoor(const probe::Stream& stream, const RunToken& token, int stop);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_PROBE_PROBE_CALL_H_
