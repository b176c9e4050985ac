// Bytes of messages by the round that they belong to: messages of later rounds may be posted or
// arrive before the current round is over.
#ifndef GRAPEVINE_ALGORITHM_ROUND_BYTES_H_
#define GRAPEVINE_ALGORITHM_ROUND_BYTES_H_

#include <cstdint>
#include <map>

#include "base/ids.h"

namespace grapevine {

// Thread-compatible. Memory: the rounds that nobody has asked past.
class RoundBytes {
 public:
  void Add(Round round, int64_t bytes) { open_[round] += bytes; }

  // The bytes of all rounds before `round`; called in ascending order.
  int64_t Before(Round round) {
    const auto end = open_.lower_bound(round);
    for (auto it = open_.begin(); it != end; it = open_.erase(it)) settled_ += it->second;
    return settled_;
  }

 private:
  int64_t settled_ = 0;
  std::map<Round, int64_t> open_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ROUND_BYTES_H_
