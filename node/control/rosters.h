// What a node hears when it joins a run: where the run's nodes are and, if the run is under way,
// what has become of it so far.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_ROSTERS_H_
#define GRAPEVINE_NODE_CONTROL_ROSTERS_H_

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "node/control/control.pb.h"
#include "node/control/control_protocol.h"
#include "node/control/members.h"
#include "node/control/run_limit.h"
#include "node/control/succession.h"

namespace grapevine {

class Rosters {
 public:
  struct Options {
    Rank nodes = 0;
    std::string run_id;
    std::optional<control::Resumed> resumed;  // as CoordinatorOptions'
    // The time since the start of the run, when its nodes begin it or go on with it.
    std::chrono::nanoseconds elapsed{0};
  };
  explicit Rosters(Options options) : options_(std::move(options)) {}

  // Returns what the members hear with which the run begins.
  control::Directive Begin(const Members& members, const RunLimit& end, SteadyTime now);
  // Goes on with a run that another coordinator has begun.
  void TakeOver(const Succession& found, SteadyTime now);

  // Returns what the newcomers of a view hear. Must be called before OnView.
  control::Directive Welcome(const control::View& view, const RunLimit& end, SteadyTime now);
  // Notes a view of which later newcomers hear.
  void OnView(control::View view) { views_.push_back(std::move(view)); }

  // Returns the limits that were settled before the checkpoint that the run goes on from.
  std::vector<control::RoundLimit> Settled() const;

 private:
  const Options options_;
  SteadyTime started_;
  std::vector<std::string> addresses_;  // by rank; of a lost node, its last one
  std::vector<control::View> views_;    // agreed upon, as far as they are known
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_ROSTERS_H_
