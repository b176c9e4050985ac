#include "algorithm/gossip/clipped_averaging.h"

namespace grapevine {

absl::StatusOr<Averaging::Terms> ClippedAveraging::Take(Host& host) {
  const Part own = host.Whole(this->own());
  Terms terms = Mixture(1, host);
  for (Term& term : terms) {
    if (term.part.vector == own.vector) {
      term.weight = 1;
      continue;
    }
    const Term difference[] = {{1, term.part}, {-1, own}};
    host.Combine(term.part, difference);
    host.Clip(term.part, radius_);
  }
  return terms;
}

}  // namespace grapevine
