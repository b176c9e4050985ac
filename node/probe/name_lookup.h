// Lookups of names on this host: the addresses of a name, and the names of these addresses.
#ifndef GRAPEVINE_NODE_PROBE_NAME_LOOKUP_H_
#define GRAPEVINE_NODE_PROBE_NAME_LOOKUP_H_

#include <chrono>
#include <functional>
#include <string>

#include "node/probe/probe.pb.h"

namespace grapevine {

// Looks up the addresses of `name`, then their names; gives up after `patience` for each of the
// two. Safe from any thread.
probe::Lookup LookUp(const std::string& name, std::chrono::milliseconds patience);

// Adds the lookup of each name to `facts`, in the order of `names`. Names are no longer looked up
// once four in a row have got no answer, or once `stopped` returns true.
void LookUpAll(const google::protobuf::RepeatedPtrField<std::string>& names,
               std::chrono::milliseconds patience, const std::function<bool()>& stopped,
               probe::Facts* facts);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_PROBE_NAME_LOOKUP_H_
