// Where the nodes of a run look for rank 0, as --coordinator says it:
//
//   HOST[:PORT]              there (as --master-addr)
//   dns:NAME:PORT            at one of the addresses of a name: a headless service, whose pods come
//                            up one by one
//   file:DIR                 where rank 0 says it is, in a folder that all nodes share
//   etcd:HOST:PORT/RUN-KEY   the same in etcd, under a key of the run's own
//
// Pure functions.
#ifndef GRAPEVINE_NODE_DISCOVERY_COORDINATOR_PLACE_H_
#define GRAPEVINE_NODE_DISCOVERY_COORDINATOR_PLACE_H_

#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"
#include "node/identity/host_address.h"

namespace grapevine {

struct CoordinatorAt {
  std::string address;  // HOST or HOST:PORT, checked by who knows the other source of a port
};
struct CoordinatorInDns {
  HostAddress name;
};
struct CoordinatorInFolder {
  std::string folder;
};
struct CoordinatorInEtcd {
  HostAddress etcd;
  std::string run_key;
};
using CoordinatorPlace =
    std::variant<CoordinatorAt, CoordinatorInDns, CoordinatorInFolder, CoordinatorInEtcd>;

// kUsage quotes the text and gives the forms.
absl::StatusOr<CoordinatorPlace> ParseCoordinatorPlace(std::string_view text);

// Whether rank 0 says there where it is, so that nobody needs to know its address or port.
bool IsInStore(const CoordinatorPlace& place);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_COORDINATOR_PLACE_H_
