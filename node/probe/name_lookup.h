// The addresses of a name as this host finds them, and the names that it finds for those.
#ifndef GRAPEVINE_NODE_PROBE_NAME_LOOKUP_H_
#define GRAPEVINE_NODE_PROBE_NAME_LOOKUP_H_

#include <chrono>
#include <functional>
#include <string>

#include "node/probe/probe.pb.h"

namespace grapevine {

// Gives up after `patience` each way. Safe from any thread.
probe::Lookup LookUp(const std::string& name, std::chrono::milliseconds patience);

// Of each of them, in their order, into `facts`. Where four in a row get no answer, the others are
// not asked for; nor once `stopped`.
void LookUpAll(const google::protobuf::RepeatedPtrField<std::string>& names,
               std::chrono::milliseconds patience, const std::function<bool()>& stopped,
               probe::Facts* facts);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_PROBE_NAME_LOOKUP_H_
