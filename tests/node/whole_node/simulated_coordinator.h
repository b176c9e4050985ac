// A run's coordinator behind simulated connections: the counterpart of GrpcCoordinatorService.
//
// Thread-compatible.
#ifndef GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_COORDINATOR_H_
#define GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_COORDINATOR_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "node/control/coordinator.h"
#include "node/identity/authentication.h"
#include "tests/node/whole_node/process.h"
#include "tests/node/whole_node/simulated_network.h"
#include "tests/node/whole_node/simulated_port_watch.h"

namespace grapevine::testing {

class SimulatedCoordinator {
 public:
  static constexpr char kService[] = "control";

  struct Sinks {
    std::function<void(Rank, const control::NodeMetrics&)> on_metrics;
    std::function<void(const std::string&)> on_notice;
    std::function<void(Round)> on_called;
    std::function<void(Rank, const control::SavedPart&)> on_part;
    std::function<void(Rank)> on_lost;
    std::function<void(Rank, Round)> on_newcomer;
    std::function<bool()> is_certain;
    // All have done their part: the run may end.
    std::function<void()> on_all_done;
  };

  // `processes`: by rank, now; they outlive it. Its own is that of the options' own registration.
  SimulatedCoordinator(CoordinatorOptions options, RunToken token, SimulatedNetwork* network,
                       const std::vector<Process*>* processes, Sinks sinks);

  void ExtendRoundLimit(Round limit, bool final, int64_t growth);
  void OnCheckpoint(Round round);
  // Ends the run.
  void Finish();
  // Whether every node that must hear the end has heard it and left.
  bool AllClosed() const;
  const Coordinator& coordinator() const { return coordinator_; }

 private:
  struct Session {
    std::shared_ptr<Connection> connection;
    bool registered = false;
    bool ended = false;
    SteadyTime patience_until;
  };

  void Accept(std::shared_ptr<Connection> connection);
  void OnMessage(SessionId id, const std::string& bytes);
  void OnClosed(SessionId id, const absl::Status& why);
  void ScheduleTick();
  // The coordinator, which knows of its tenure as it is now.
  Coordinator& Judge();
  void Flush();

  Process* const process_;
  const RunToken token_;
  const Sinks sinks_;
  const std::chrono::nanoseconds tick_;
  SimulatedPortWatch watch_;
  Coordinator coordinator_;
  std::map<SessionId, Session> sessions_;
  SessionId next_ = 0;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_COORDINATOR_H_
