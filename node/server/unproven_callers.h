// Places for callers that have yet to prove who they are: a bounded number, which no flood of
// strangers can keep from those that prove themselves.
//
// Where all places are taken, a newcomer has that of the oldest caller of the host that holds most
// of them: a host that calls again and again displaces its own, and one that holds a single place
// keeps it for as long as another holds two. A host is an IPv4 address, or the 64 bits of an IPv6
// one that name its network. The hosts of ranks that have proven themselves, or that are in the
// roster, have places of their own, as has this process.
//
// Each call takes time logarithmic in the number of places, however many have come before.
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
  using Caller = int64_t;  // from 0, in the order in which they have come

  // `reserved`: the places of known hosts.
  UnprovenCallers(size_t places, size_t reserved) : open_(places), known_(reserved) {}

  struct Entered {
    Caller caller;
    // Whose place it has taken, whom this forgets: itself only where there are no places at all.
    std::optional<Caller> displaced;
  };
  // Somebody calls from `host` (HostOfConnection; empty: from this process).
  Entered Enter(std::string_view host);
  // It has proven itself, or is gone. Idempotent.
  void Leave(Caller caller);

  // Rank `rank` calls from that host, and no longer from another. A name is nobody's address.
  void Know(Rank rank, std::string_view host);
  // The roster has it at that address (HOST:PORT), and it may have called from elsewhere.
  void Expect(Rank rank, std::string_view address);

  size_t size() const { return callers_.size(); }

 private:
  // Places that hosts share.
  class Places {
   public:
    explicit Places(size_t most) : most_(most) {}
    void Add(const std::string& host, Caller caller);
    void Remove(const std::string& host, Caller caller);
    bool overfull() const { return taken_ > most_; }
    // The oldest of the host that holds most; of several such hosts, the oldest of all.
    Caller Last() const;

   private:
    using Share = std::pair<size_t, Caller>;  // how many, and the oldest: its complement
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
  std::map<std::string, int> known_hosts_;  // of how many ranks each is the host
  Caller next_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_SERVER_UNPROVEN_CALLERS_H_
