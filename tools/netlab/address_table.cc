#include "tools/netlab/address_table.h"

namespace grapevine::netlab {
namespace {

constexpr size_t kAddressBytes = 6;

uint64_t AddressAt(std::span<const uint8_t> frame, size_t offset) {
  uint64_t address = 0;
  for (const uint8_t byte : frame.subspan(offset, kAddressBytes)) address = address << 8 | byte;
  return address;
}

bool IsGroup(std::span<const uint8_t> frame) { return (frame[0] & 1) != 0; }

}  // namespace

void AddressTable::Learn(std::span<const uint8_t> frame, int port) {
  const uint64_t source = AddressAt(frame, kAddressBytes);
  if (ports_.size() >= kMaxAddresses && !ports_.contains(source)) return;
  ports_[source] = port;
}

std::optional<int> AddressTable::Find(std::span<const uint8_t> frame) const {
  if (IsGroup(frame)) return std::nullopt;
  const auto found = ports_.find(AddressAt(frame, 0));
  if (found == ports_.end()) return std::nullopt;
  return found->second;
}

}  // namespace grapevine::netlab
