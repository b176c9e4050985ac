// Which port of the switch an Ethernet address was last seen at.
//
// Thread-compatible.
#ifndef GRAPEVINE_TOOLS_NETLAB_ADDRESS_TABLE_H_
#define GRAPEVINE_TOOLS_NETLAB_ADDRESS_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

namespace grapevine::netlab {

// An Ethernet header: destination, source, type.
inline constexpr size_t kHeaderBytes = 14;

class AddressTable {
 public:
  // More addresses than this are not learnt: their frames go to every port.
  static constexpr size_t kMaxAddresses = 1024;

  // A frame of at least kHeaderBytes came from `port`.
  void Learn(std::span<const uint8_t> frame, int port);
  // Where a frame goes; nullopt: to every port but its own (a group address, or
  // one not seen yet).
  std::optional<int> Find(std::span<const uint8_t> frame) const;

 private:
  std::map<uint64_t, int> ports_;
};

}  // namespace grapevine::netlab

#endif  // GRAPEVINE_TOOLS_NETLAB_ADDRESS_TABLE_H_
