#include "sim/network/network_model.h"

namespace grapevine {
namespace {

uint64_t Key(Rank from, Rank to) {
  return static_cast<uint64_t>(static_cast<uint32_t>(from)) << 32 | static_cast<uint32_t>(to);
}

}  // namespace

Nanoseconds Connections::Begin(Rank from, Rank to, Nanoseconds now) {
  const auto [found, first] = connections_.try_emplace(Key(from, to));
  Connection& connection = found->second;
  const bool busy = connection.under_way++ > 0;
  if (first) return Transfer::kNeverUsed;
  return busy ? 0 : now - connection.left;
}

void Connections::End(Rank from, Rank to, Nanoseconds now) {
  Connection& connection = connections_[Key(from, to)];
  --connection.under_way;
  connection.left = now;
}

}  // namespace grapevine
