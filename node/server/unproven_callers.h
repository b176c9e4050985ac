// UnprovenCallers gives places to callers that have yet to prove who they are. The number of places
// is bounded, yet no flood of strangers can keep out the callers that prove themselves.
//
// If all places are taken, a newcomer takes the place of the oldest caller of the host that holds
// the most places: a host that calls again and again displaces its own callers, and a host that
// holds a single place keeps it for as long as another holds two. A host is an IPv4 address, or the
// 64 bits of an IPv6 address that name its network. The hosts of ranks that have proven themselves,
// or that are in the roster, have places of their own, as has this process.
//
// Each call takes time logarithmic in the number of places, however many callers have come before.
// Thread-compatible.
#ifndef GRAPEVINE_NODE_SERVER_UNPROVEN_CALLERS_H_
#define GRAPEVINE_NODE_SERVER_UNPROVEN_CALLERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/ids.h"

namespace grapevine {

class UnprovenCallers {
 public:
  using Caller = int64_t;  // numbered from 0, in the order of arrival

  // `places` is the number of places for strangers, `reserved` the number for known hosts.
  UnprovenCallers(size_t places, size_t reserved) : open_(places), known_(reserved) {}

  struct Entered {
    Caller caller;
    // The caller whose place the newcomer has taken, and which has left with that; the newcomer
    // itself only if there are no places at all.
    std::optional<Caller> displaced;
  };
  // Gives a place to a new caller from `host` (HostOfConnection; empty: from this process).
  Entered Enter(std::string_view host);
  // Frees the place of a caller that has proven itself, or is gone. Idempotent.
  void Leave(Caller caller);

  // Makes `host`, from which `rank` calls, a known host, in place of the one known for `rank`
  // before. Does nothing if `host` is not an IP address.
  void Know(Rank rank, std::string_view host);
  // Makes the host of `address` (HOST:PORT), at which the roster has `rank`, a known host, unless
  // one is known for `rank` already, which may have called from elsewhere.
  void Expect(Rank rank, std::string_view address);

  size_t size() const { return callers_.size(); }

 private:
  // A set of places that hosts share.
  class Places {
   public:
    explicit Places(size_t most) : most_(most) {}
    void Add(const std::string& host, Caller caller);
    void Remove(const std::string& host, Caller caller);
    bool overfull() const { return taken_ > most_; }
    // Returns the oldest caller of the host that holds the most places; if several hosts do, the
    // oldest caller of those hosts.
    Caller Last() const;

   private:
    // The number of a host's places, and the complement of its oldest caller.
    using Share = std::pair<size_t, Caller>;
    static Share Of(const std::set<Caller>& callers) { return {callers.size(), ~*callers.begin()}; }

    size_t most_;
    size_t taken_ = 0;
    std::map<std::string, std::set<Caller>> by_host_;  // none empty
    std::set<Share> shares_;                           // of each host
  };
  struct Place {
    std::string host;
    bool known;
  };
  Places& PlacesFor(bool known) { return known ? known_ : open_; }

  Places open_;
  Places known_;
  std::map<Caller, Place> callers_;
  std::map<Rank, std::string> host_of_;
  std::map<std::string, int> known_hosts_;  // the number of ranks at each host
  Caller next_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_SERVER_UNPROVEN_CALLERS_H_
