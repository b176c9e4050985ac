// Puts a saved state into an algorithm that begins (Start::state). Numbers are checked; the
// elements of vectors are what they are.
//
// Thread-safety: the driver's thread.
#ifndef GRAPEVINE_RUN_CHECKPOINT_STATE_RESTORER_H_
#define GRAPEVINE_RUN_CHECKPOINT_STATE_RESTORER_H_

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "algorithm/state_visitor.h"
#include "kernels/vector/vector_handle.h"
#include "run/checkpoint/node_state.h"

namespace grapevine {

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

#endif  // GRAPEVINE_RUN_CHECKPOINT_STATE_RESTORER_H_
