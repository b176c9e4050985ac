// The addresses of a run's nodes in few bytes. Every node of a run hears all of them, and most
// differ in a few letters only.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_NODE_CONTROL_ADDRESS_LIST_H_
#define GRAPEVINE_NODE_CONTROL_ADDRESS_LIST_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "node/control/control.pb.h"

namespace grapevine {

// The most bytes of an address: the longest name of a host has 253. A bound for each address bounds
// the memory that a list can take.
inline constexpr size_t kMaxAddressBytes = 400;

// No address may be longer than kMaxAddressBytes.
control::AddressList PackAddresses(std::span<const std::string> addresses);

// Returns the addresses of `nodes` ranks. An InvalidArgument error, phrased to follow "rank 0 ",
// says why the list is not one of so many.
absl::StatusOr<std::vector<std::string>> UnpackAddresses(const control::AddressList& list,
                                                         Rank nodes);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_ADDRESS_LIST_H_
