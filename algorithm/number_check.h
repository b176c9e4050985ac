// Whether the numbers of a message may be averaged: what every driver asks of what arrives, before
// an algorithm hears of it. One NaN would otherwise be everybody's within rounds, and the first
// loss that suffers from it would name the wrong node.
//
// A pure function.
#ifndef GRAPEVINE_ALGORITHM_NUMBER_CHECK_H_
#define GRAPEVINE_ALGORITHM_NUMBER_CHECK_H_

#include <limits>

#include "absl/status/status.h"
#include "algorithm/message.h"
#include "base/ids.h"

namespace grapevine {

// --max-norm was not given.
inline constexpr double kAnyNorm = std::numeric_limits<double>::infinity();

// `squared_norm`: the sum of the squares of the message's elements in double precision, which is
// finite if and only if all of them are. kDiverged names the sender, the round for which the
// message was posted and its tag, where that is not so, or where its Euclidean norm is above
// `max_norm`.
absl::Status CheckNumbers(Rank from, const Tag& tag, Round round, double squared_norm,
                          double max_norm);

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_NUMBER_CHECK_H_
