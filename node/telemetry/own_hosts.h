// OwnHosts are the names by which an HTTP server may be asked.
//
// A browser says in the Host field which name led it to the server. A page whose name is made to
// lead to this machine (DNS rebinding) would be allowed to read the answer; so the server answers
// only clients that ask by one of its own names: loopback's, the address at which it listens, the
// one that the node advertises. A server that listens everywhere also answers to the machine's
// names, and to every IP address, as no page can take one for its name.
//
// A value; safe from any thread.
#ifndef GRAPEVINE_NODE_TELEMETRY_OWN_HOSTS_H_
#define GRAPEVINE_NODE_TELEMETRY_OWN_HOSTS_H_

#include <string>
#include <string_view>

namespace grapevine {

struct OwnHosts {
  std::string listens;     // the name or address at which the server listens
  std::string advertised;  // the host at which others reach this node; may be empty
  std::string flag;        // the flag that says where the server listens: "--dashboard"

  // Returns whether `field`, the value of Host, is one of the names. `field` is "name", "name:port"
  // or "[v6]:port".
  bool Have(std::string_view field) const;
  // Returns what to tell a client that asks by another name.
  std::string Refusal(std::string_view field) const;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TELEMETRY_OWN_HOSTS_H_
