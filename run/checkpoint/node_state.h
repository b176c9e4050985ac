// What one node's algorithm keeps at a boundary, with its elements: taken from an algorithm by a
// driver that saves it (StateSaver), and put into one that begins (StateRestorer).
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

// A value; copies share the vectors, which nobody writes.
struct NodeState {
  Round round = 0;  // completed
  // By the algorithm's names (algorithm/state_visitor.h).
  std::map<std::string, SharedVector> vectors;
  std::map<std::string, double> numbers;
  // Which of the vectors is the node's model; none for a parameter server.
  std::string model;
};

// Takes a node's state at a boundary while its rounds go on. What the state includes of messages
// that arrive later is taken when they do.
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
  // A message that does not come any more: the state is without it. So are those of the others,
  // from whose mean the run goes on.
  void OnLost(const Lost& event) { awaited_.erase(std::pair(event.from, event.tag)); }
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

// Puts a saved state into an algorithm that begins (Start::state). Numbers are checked; the
// elements of vectors are what they are.
class StateRestorer final : public StateVisitor {
 public:
  // How many elements a vector has, and how they are overwritten by as many.
  struct Vectors {
    std::function<int64_t(Vec)> size;
    std::function<void(Vec, std::span<const float>)> fill;
  };
  // `state` outlives this.
  StateRestorer(const NodeState* state, Vectors vectors);

  void Vector(std::string_view name, Vec vector) override;
  void Number(std::string_view name, double* number) override;
  void Weight(std::string_view name, double* weight) override;
  void Rounds(std::string_view name, int64_t* rounds) override;
  void Message(std::string_view name, const StateMessage& message) override;

  // After the start. Errors name what the state lacks, what does not fit, or what the algorithm has
  // no use for.
  absl::Status Finish() const;

 private:
  const NodeState& state_;
  const Vectors vectors_;
  std::set<std::string, std::less<>> taken_;
  absl::Status status_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CHECKPOINT_NODE_STATE_H_
