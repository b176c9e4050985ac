// A RemoteHost is a machine on which an agent (agent.h) starts nodes for a launcher.
#ifndef GRAPEVINE_NODE_LAUNCH_REMOTE_HOST_H_
#define GRAPEVINE_NODE_LAUNCH_REMOTE_HOST_H_

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "node/launch/agent.pb.h"
#include "node/launch/message_pipe.h"
#include "node/launch/rank_host.h"
#include "node/probe/probe.pb.h"
#include "system/child_process.h"

namespace grapevine {

struct RemoteHostOptions {
  std::string name;                  // the name that the user gives the machine
  std::vector<std::string> command;  // the command that starts the agent; a path first
  std::string build;                 // version and revision that the agent must have
  launch::Prepare prepare;
  // The time within which the machine must be ready.
  std::chrono::milliseconds patience{60000};
  // The time without a message after which the machine is lost; an agent has the same limit for its
  // launcher.
  std::chrono::milliseconds silence{30000};
};

// Returns the message that tells an agent to start a node.
launch::Start ToMessage(const RankStart& start);

class RemoteHost : public RankHost {
 public:
  // Begins to connect; Look goes on with it.
  static absl::StatusOr<std::unique_ptr<RemoteHost>> Open(RemoteHostOptions options, Time now);
  // Lets go of the agent, which ends its nodes, then itself.
  ~RemoteHost() override;

  const std::string& name() const { return options_.name; }
  // Returns whether the agent has checked that nodes can begin there.
  bool ready() const { return state_ == State::kReady; }
  // Returns whether the run directory there is that of the launcher. Only valid once ready().
  bool shares_run() const { return shares_run_; }
  // Returns why the machine is lost, or cannot be used; the message is phrased to follow its name.
  const absl::Status& status() const { return status_; }

  // Makes this host tell `watcher`, which must outlive it, what happens from now on. To be called
  // once ready().
  void Tell(RankWatcher* watcher) { watcher_ = watcher; }
  // Makes `answered` hear every answer to Probe; answers are untrusted.
  using Answered = std::function<void(const probe::Answer&)>;
  void OnAnswer(Answered answered) { answered_ = std::move(answered); }
  // Sends a request that concerns no node, at once. Does nothing unless ready().
  void Probe(const probe::Request& request);
  // Ends the conversation: nothing more is asked of the agent, which ends.
  void Close() { process_->input().Close(); }

  void Start(const RankStart& start) override;
  void Signal(Rank rank, int signal) override;
  void AddTo(std::vector<pollfd>* polled) const override;
  void Look(Time now) override;
  Time deadline() const override;

 private:
  enum class State { kGreeting, kPreparing, kReady, kLost };

  RemoteHost(RemoteHostOptions options, std::unique_ptr<ChildProcess> process, Time now);

  void Hear(Time now);
  // Takes the greeting, which comes before the messages.
  absl::Status Greet();
  absl::Status HearMessages(Time now);
  absl::Status OnReport(const launch::Report& report);
  absl::Status OnPrepared(const launch::Prepared& prepared);
  // Takes a report of one of this host's ranks; the report is untrusted.
  absl::Status OnRankReport(const launch::Report& report);
  void OnEnded(Rank rank, int wait_status);
  void CheckTime(Time now);
  void Say(Time now);
  // The process that leads to the machine has ended.
  void OnHungUp(int wait_status);
  void Lose(absl::Status why);
  void OnRemark(std::string_view line);

  const RemoteHostOptions options_;
  const std::unique_ptr<ChildProcess> process_;  // the agent's, or the one that leads to it
  const Time begun_;
  RankWatcher* watcher_ = nullptr;
  Answered answered_;
  MessageReader reader_;
  MessageWriter writer_;
  LineReader remarks_;
  std::deque<std::string> last_remarks_;
  State state_ = State::kGreeting;
  absl::Status status_;
  bool shares_run_ = false;
  std::set<Rank> running_;  // includes ranks that are being started
  Time heard_, said_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_REMOTE_HOST_H_
