// The names by which a server of HTTP may be asked.
//
// A browser says in Host which name led it here. A page of a stranger's name that is made to lead
// to this machine (DNS rebinding) would be allowed to read the answer; so only who knows the server
// by a name of its own has one: loopback's, the address at which it listens, the one that the node
// advertises. Where it listens everywhere, also the machine's names, and every IP address, as no
// page can take one for its name.
//
// A value; safe from any thread.
#ifndef GRAPEVINE_NODE_TELEMETRY_OWN_HOSTS_H_
#define GRAPEVINE_NODE_TELEMETRY_OWN_HOSTS_H_

#include <string>
#include <string_view>

namespace grapevine {

struct OwnHosts {
  std::string listens;     // the name or address at which it listens
  std::string advertised;  // at which others reach this node; may be empty
  std::string flag;        // that says where it listens: "--dashboard"

  // `field` is Host's: "name", "name:port", "[v6]:port".
  bool Have(std::string_view field) const;
  // What to tell who asks by another name.
  std::string Refusal(std::string_view field) const;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TELEMETRY_OWN_HOSTS_H_
