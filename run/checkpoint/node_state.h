// The state that one node's algorithm keeps at a boundary, with the elements of its vectors. A
// driver takes it from an algorithm to save it (StateSaver), and puts it into an algorithm that
// begins (StateRestorer).
//
// Thread-safety: the visitors belong to the driver's thread.
#ifndef GRAPEVINE_RUN_CHECKPOINT_NODE_STATE_H_
#define GRAPEVINE_RUN_CHECKPOINT_NODE_STATE_H_

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "algorithm/event.h"
#include "algorithm/state_visitor.h"
#include "base/ids.h"
#include "kernels/vector/shared_vector.h"
#include "kernels/vector/vector_handle.h"

namespace grapevine {

// The saved state of a node. A value; copies share the vectors, which are never written.
struct NodeState {
  Round round = 0;  // completed rounds
  // Vectors and numbers by the algorithm's names (algorithm/state_visitor.h).
  std::map<std::string, SharedVector> vectors;
  std::map<std::string, double> numbers;
  // The name of the vector that is the node's model; empty for a parameter server.
  std::string model;
};

// Takes a node's state at a boundary while its rounds go on. Messages of the state that arrive
// later are taken when they arrive.
class StateSaver final : public StateVisitor {
 public:
  // Returns a copy of a vector's present elements, in memory that nobody else writes.
  using Copy = std::function<SharedVector(Vec)>;
  // Makes a saver for the boundary `completed`; visit the algorithm's state there. `model` is the
  // node's model there, if it has one.
  StateSaver(Round completed, Vec model, Copy copy);

  void Vector(std::string_view name, Vec vector) override;
  void Number(std::string_view name, double* number) override;
  void Weight(std::string_view name, double* weight) override;
  void Rounds(std::string_view name, int64_t* rounds) override;
  void Message(std::string_view name, const StateMessage& message) override;

  // Must be called with every message that is received, before the algorithm receives it.
  void OnReceived(const Received& event);
  // Notes that a message will not come: the state is without it. The states of the other nodes,
  // from whose mean the run goes on, are without it, too.
  void OnLost(const Lost& event) { awaited_.erase(std::pair(event.from, event.tag)); }
  // Whether the state is complete: no message is missing any more.
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

// Puts a saved state into an algorithm that begins (Start::state). Numbers are checked; the
// elements of vectors are not.
class StateRestorer final : public StateVisitor {
 public:
  // Access to vectors: `size` returns the number of elements, `fill` overwrites all of them.
  struct Vectors {
    std::function<int64_t(Vec)> size;
    std::function<void(Vec, std::span<const float>)> fill;
  };
  // `state` must outlive this object.
  StateRestorer(const NodeState* state, Vectors vectors);

  void Vector(std::string_view name, Vec vector) override;
  void Number(std::string_view name, double* number) override;
  void Weight(std::string_view name, double* weight) override;
  void Rounds(std::string_view name, int64_t* rounds) override;
  void Message(std::string_view name, const StateMessage& message) override;

  // Returns the errors of restoring; must be called after the start. Errors name what the state
  // lacks, what does not fit, or what the algorithm has no use for.
  absl::Status Finish() const;

 private:
  const NodeState& state_;
  const Vectors vectors_;
  std::set<std::string, std::less<>> taken_;
  absl::Status status_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CHECKPOINT_NODE_STATE_H_
