// When each connection was last used: what slow start after a pause depends on.
#ifndef GRAPEVINE_SIM_NETWORK_CONNECTIONS_H_
#define GRAPEVINE_SIM_NETWORK_CONNECTIONS_H_

#include <cstdint>
#include <unordered_map>

#include "base/ids.h"
#include "sim/nanoseconds.h"

namespace grapevine {

// One for each ordered pair of ranks that ever spoke. Thread-compatible.
class Connections {
 public:
  // A message begins to flow; returns Transfer::idle (message_effect.h).
  Nanoseconds Begin(Rank from, Rank to, Nanoseconds now);
  // Its last byte has left.
  void End(Rank from, Rank to, Nanoseconds now);

 private:
  struct Connection {
    int64_t under_way = 0;
    Nanoseconds left = 0;  // the last byte of all
  };

  std::unordered_map<uint64_t, Connection> connections_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_NETWORK_CONNECTIONS_H_
