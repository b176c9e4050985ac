// The passes of a round: the batches whose gradients' mean is the round's gradient.
#ifndef GRAPEVINE_BASE_PASSES_H_
#define GRAPEVINE_BASE_PASSES_H_

#include <cstdint>
#include <functional>

#include "base/ids.h"

namespace grapevine {

// They are numbered through from round 0.
struct Passes {
  int64_t first = 0;
  int64_t count = 1;  // at least one
};

// A pure function, safe from any thread.
using PassesOf = std::function<Passes(Round round)>;

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_PASSES_H_
