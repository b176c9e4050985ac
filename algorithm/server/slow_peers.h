// Whose messages take long: many workers ask while one of theirs travels.
//
// An algorithm has no clock; but who travels so long that several others compute a gradient and ask
// meanwhile takes more than its turn of a server. By chance, or where all compute in step, that
// happens to anybody: it holds until the worker's next message in that direction.
//
// Thread-compatible.
#ifndef GRAPEVINE_ALGORITHM_SERVER_SLOW_PEERS_H_
#define GRAPEVINE_ALGORITHM_SERVER_SLOW_PEERS_H_

#include <cstdint>
#include <map>
#include <set>

#include "base/ids.h"

namespace grapevine {

class SlowPeers {
 public:
  // Some worker asks.
  void OnAsk() { ++asked_; }
  // A message of the worker, or for it, begins to travel, and ends.
  void Begin(Rank worker) { begun_[worker] = asked_; }
  void End(Rank worker) {
    if (asked_ - begun_.at(worker) >= kMany) {
      slow_.insert(worker);
    } else {
      slow_.erase(worker);
    }
  }
  // Whether its last one took long.
  bool contains(Rank worker) const { return slow_.contains(worker); }

 private:
  // Where all are alike, about two ask while two are served.
  static constexpr int64_t kMany = 4;

  int64_t asked_ = 0;
  std::map<Rank, int64_t> begun_;  // when so many had asked
  std::set<Rank> slow_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_SLOW_PEERS_H_
