#include "node/probe/name_lookup.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "system/deadline.h"
#include "system/machine_names.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The most addresses of one name; more are of no use.
constexpr size_t kMostAddresses = 16;
constexpr char kNoServer[] = "no name server answers";
constexpr int kMostSilent = 4;

// Returns the name of an address; empty if it has none.
std::string NameOfAddress(const std::string& address) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICHOST;
  addrinfo* raw = nullptr;
  if (getaddrinfo(address.c_str(), nullptr, &wanted, &raw) != 0) return "";
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> at(raw, freeaddrinfo);
  char name[NI_MAXHOST];
  const int error =
      getnameinfo(at->ai_addr, at->ai_addrlen, name, sizeof(name), nullptr, 0, NI_NAMEREQD);
  return error == 0 ? name : "";
}

}  // namespace

probe::Lookup LookUp(const std::string& name, milliseconds patience) {
  probe::Lookup lookup;
  BoundedCall bounded;
  const auto found = std::make_shared<absl::StatusOr<std::vector<std::string>>>();
  const bool in_time = bounded.Run([found, name] { *found = AddressesOfName(name); },
                                   steady_clock::now() + patience);
  if (!in_time || !found->ok()) {
    lookup.set_problem(in_time ? std::string(found->status().message()) : kNoServer);
    return lookup;
  }
  const size_t count = std::min((*found)->size(), kMostAddresses);
  const auto back = std::make_shared<std::vector<std::string>>();
  const bool known = bounded.Run(
      [found, back, count] {
        for (size_t i = 0; i < count; ++i) back->push_back(NameOfAddress((**found)[i]));
      },
      steady_clock::now() + patience);
  for (size_t i = 0; i < count; ++i) {
    lookup.add_addresses((**found)[i]);
    // If the call was given up, its thread may still write to `back`.
    lookup.add_names(known ? (*back)[i] : "");
  }
  return lookup;
}

void LookUpAll(const google::protobuf::RepeatedPtrField<std::string>& names, milliseconds patience,
               const std::function<bool()>& stopped, probe::Facts* facts) {
  int silent = 0;
  for (const std::string& name : names) {
    probe::Lookup& lookup = *facts->add_lookups();
    if (silent >= kMostSilent || stopped()) {
      lookup.set_problem(kNoServer);
      continue;
    }
    lookup = LookUp(name, patience);
    silent = lookup.problem() == kNoServer ? silent + 1 : 0;
  }
}

}  // namespace grapevine
