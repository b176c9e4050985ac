#include "node/control/address_list.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

// For each address: the bytes that it shares with the beginning and with the end of the address
// before, and those of its own in between.
constexpr int kShape = 3;

size_t SharedBeginning(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

size_t SharedEnd(std::string_view a, std::string_view b) {
  const auto end = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first;
  return static_cast<size_t>(end - a.rbegin());
}

}  // namespace

control::AddressList PackAddresses(std::span<const std::string> addresses) {
  control::AddressList list;
  std::string_view before;
  for (const std::string_view address : addresses) {
    const size_t beginning = SharedBeginning(before, address);
    const size_t end = SharedEnd(before.substr(beginning), address.substr(beginning));
    const size_t own = address.size() - beginning - end;
    for (const size_t bytes : {beginning, end, own}) list.add_shape(static_cast<uint32_t>(bytes));
    list.mutable_own()->append(address.substr(beginning, own));
    before = address;
  }
  return list;
}

absl::StatusOr<std::vector<std::string>> UnpackAddresses(const control::AddressList& list,
                                                         Rank nodes) {
  if (list.shape_size() != kShape * nodes) {
    return absl::InvalidArgumentError(absl::StrCat("sent a roster of ", list.shape_size() / kShape,
                                                   " addresses for ", nodes, " nodes"));
  }
  std::vector<std::string> addresses;
  addresses.reserve(static_cast<size_t>(nodes));  // so that views of them last
  std::string_view before, left = list.own();
  for (int i = 0; i < list.shape_size(); i += kShape) {
    const size_t beginning = list.shape(i), end = list.shape(i + 1), own = list.shape(i + 2);
    if (beginning + end > before.size() || own > left.size() ||
        beginning + end + own > kMaxAddressBytes) {
      return absl::InvalidArgumentError("sent a roster whose addresses cannot be");
    }
    std::string address(before.substr(0, beginning));
    address.append(left.substr(0, own)).append(before.substr(before.size() - end));
    left.remove_prefix(own);
    before = addresses.emplace_back(std::move(address));
  }
  if (left.empty()) return addresses;
  return absl::InvalidArgumentError("sent a roster whose addresses cannot be");
}

}  // namespace grapevine
