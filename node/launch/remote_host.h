// A machine on which an agent (agent.h) starts nodes for a launcher.
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
  std::string name;                  // as the user calls it
  std::vector<std::string> command;  // starts its agent; a path first
  std::string build;                 // that it must be of: version and revision
  launch::Prepare prepare;
  // How long it may take until it is ready.
  std::chrono::milliseconds patience{60000};
  // After so long without a word it is lost; the same for the agent.
  std::chrono::milliseconds silence{30000};
};

// As an agent is told.
launch::Start ToMessage(const RankStart& start);

class RemoteHost : public RankHost {
 public:
  // Begins to connect; Look goes on with it.
  static absl::StatusOr<std::unique_ptr<RemoteHost>> Open(RemoteHostOptions options, Time now);
  // The agent ends by itself, and its nodes.
  ~RemoteHost() override;

  const std::string& name() const { return options_.name; }
  // Its agent has checked that nodes can begin there.
  bool ready() const { return state_ == State::kReady; }
  // Once ready: whether the run directory there is that of the launcher.
  bool shares_run() const { return shares_run_; }
  // Why it is lost, or cannot be used: the message is what comes after its name.
  const absl::Status& status() const { return status_; }

  // Once it is ready, from when on it tells `watcher`, which outlives it.
  void Tell(RankWatcher* watcher) { watcher_ = watcher; }
  // Asks what concerns no node, once it is ready, at once; `answered` hears of all that comes
  // back, which is untrusted.
  using Answered = std::function<void(const probe::Answer&)>;
  void OnAnswer(Answered answered) { answered_ = std::move(answered); }
  void Probe(const probe::Request& request);
  // Nothing more is asked of it: its agent ends.
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
  // What comes before the messages.
  absl::Status Greet();
  absl::Status HearMessages(Time now);
  absl::Status OnReport(const launch::Report& report);
  absl::Status OnPrepared(const launch::Prepared& prepared);
  // Of one of its ranks, which is untrusted.
  absl::Status OnRankReport(const launch::Report& report);
  void OnEnded(Rank rank, int wait_status);
  void CheckTime(Time now);
  void Say(Time now);
  // The process that leads there has ended.
  void OnHungUp(int wait_status);
  void Lose(absl::Status why);
  void OnRemark(std::string_view line);

  const RemoteHostOptions options_;
  const std::unique_ptr<ChildProcess> process_;  // of the agent, or leads there
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
  std::set<Rank> running_;  // or being started
  Time heard_, said_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_REMOTE_HOST_H_
