// Takes a node's state at a boundary while its rounds go on. What the state includes of messages
// that arrive later is taken when they do.
//
// Thread-safety: the driver's thread.
#ifndef GRAPEVINE_RUN_CHECKPOINT_STATE_SAVER_H_
#define GRAPEVINE_RUN_CHECKPOINT_STATE_SAVER_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "algorithm/event.h"
#include "algorithm/state_visitor.h"
#include "base/ids.h"
#include "kernels/vector/shared_vector.h"
#include "kernels/vector/vector_handle.h"
#include "run/checkpoint/node_state.h"

namespace grapevine {

class StateSaver final : public StateVisitor {
 public:
  // The elements of a vector as they are now, in memory that nobody else writes.
  using Copy = std::function<SharedVector(Vec)>;
  // Visit the algorithm's state at its boundary `completed`, where the node's model is `model`, if
  // it has one.
  StateSaver(Round completed, Vec model, Copy copy);

  void Vector(std::string_view name, Vec vector) override;
  void Number(std::string_view name, double* number) override;
  void Weight(std::string_view name, double* weight) override;
  void Rounds(std::string_view name, int64_t* rounds) override;
  void Message(std::string_view name, const StateMessage& message) override;

  // Every message, before the algorithm hears of it.
  void OnReceived(const Received& event);
  // Whether all of the state is there.
  bool complete() const { return awaited_.empty(); }
  const NodeState& state() const { return state_; }

 private:
  struct Awaited {
    std::string name;
    Vec vector;
  };

  const Vec model_;
  const Copy copy_;
  NodeState state_;
  std::map<std::pair<Rank, Tag>, Awaited> awaited_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CHECKPOINT_STATE_SAVER_H_
