#include "node/control/outcasts.h"

#include <utility>

#include "node/control/control_protocol.h"

namespace grapevine {

const Outcast& Outcasts::Add(Rank rank, Outcast outcast) {
  return outcasts_.insert_or_assign(rank, std::move(outcast)).first->second;
}

const Outcast* Outcasts::Find(const control::Registration& registration) const {
  const auto found = outcasts_.find(registration.rank());
  if (found == outcasts_.end()) return nullptr;
  const Outcast& outcast = found->second;
  const bool meant =
      outcast.process == 0 ? !ComesAnew(registration) : outcast.process == registration.nonce();
  return meant ? &outcast : nullptr;
}

}  // namespace grapevine
