#include "sim/network/network_model.h"

namespace grapevine {

Nanoseconds Connections::Begin(Rank from, Rank to, Nanoseconds now) {
  const auto [found, first] = connections_.try_emplace(ConnectionKey(from, to));
  Connection& connection = found->second;
  const bool busy = connection.under_way++ > 0;
  if (first) return Transfer::kNeverUsed;
  return busy ? 0 : now - connection.left;
}

void Connections::End(Rank from, Rank to, Nanoseconds now) {
  Connection& connection = connections_[ConnectionKey(from, to)];
  --connection.under_way;
  connection.left = now;
}

}  // namespace grapevine
