#include "system/machine_names.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "absl/status/status.h"

namespace grapevine {

namespace {

std::string AddressText(const ifaddrs& interface) {
  if (interface.ifa_addr == nullptr) return "";
  const int family = interface.ifa_addr->sa_family;
  if (family != AF_INET && family != AF_INET6) return "";
  char text[NI_MAXHOST];
  const socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  const int error =
      getnameinfo(interface.ifa_addr, length, text, sizeof(text), nullptr, 0, NI_NUMERICHOST);
  return error == 0 ? text : "";
}

}  // namespace

std::vector<std::string> HostNames() {
  std::vector<std::string> names;
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) == 0) {
    const std::string full(name);
    names.push_back(full);
    const size_t dot = full.find('.');
    if (dot != std::string::npos) names.push_back(full.substr(0, dot));
  }
  ifaddrs* interfaces = nullptr;
  if (getifaddrs(&interfaces) != 0) return names;
  for (const ifaddrs* interface = interfaces; interface != nullptr;
       interface = interface->ifa_next) {
    std::string address = AddressText(*interface);
    if (!address.empty()) names.push_back(std::move(address));
  }
  freeifaddrs(interfaces);
  return names;
}

std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

std::string BootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

absl::StatusOr<std::vector<std::string>> AddressesOfName(const std::string& name) {
  addrinfo wanted = {};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(name.c_str(), nullptr, &wanted, &found);
  if (error != 0) return absl::UnavailableError(gai_strerror(error));
  std::vector<std::string> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    char text[NI_MAXHOST];
    if (getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof(text), nullptr, 0,
                    NI_NUMERICHOST) != 0) {
      continue;
    }
    if (std::ranges::find(addresses, text) == addresses.end()) addresses.emplace_back(text);
  }
  freeaddrinfo(found);
  if (addresses.empty()) return absl::UnavailableError("it has no address");
  return addresses;
}

}  // namespace grapevine
