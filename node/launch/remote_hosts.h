// The machines of a launch, one of which may be this one: connected and checked before a node
// starts on any of them.
#ifndef GRAPEVINE_NODE_LAUNCH_REMOTE_HOSTS_H_
#define GRAPEVINE_NODE_LAUNCH_REMOTE_HOSTS_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "node/identity/host_address.h"
#include "node/identity/identity.h"
#include "node/launch/host_groups.h"
#include "node/launch/rank_host.h"
#include "node/launch/remote_host.h"

namespace grapevine {

struct RemoteHostsOptions {
  HostSlots slots;                     // by rank
  std::vector<std::string> own_names;  // under which they may list this machine
  std::string shell = "ssh";           // a command; the host and what to run there are added
  std::string program;                 // there; empty: the path of this one
  std::string build;                   // version and revision
  std::string folder;                  // to work in, on all of them
  std::string run;                     // the run directory; empty: a dry run
  std::string run_lock;                // what this machine's has in its lock
  std::string config;                  // text of the experiment's file
  // Of a node, with {config} for that file; the check adds --dry-run. Empty: nothing is checked.
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
  std::chrono::milliseconds patience{60000};  // until all are ready
  std::chrono::milliseconds silence{30000};   // after which one of them is lost
  std::chrono::milliseconds grace{10000};     // of nodes whose launcher is lost
};

// Thread-compatible.
class RemoteHosts {
 public:
  // Returns once all are ready. Otherwise says which are not, and why: kRendezvous where they
  // cannot be reached, else what the check found. kInterrupted or kTerminated at a signal. To be
  // called as Launch is.
  static absl::StatusOr<std::unique_ptr<RemoteHosts>> Connect(const RemoteHostsOptions& options);
  // The same for whoever goes on without those that cannot be used: status() of each says why.
  static absl::StatusOr<std::unique_ptr<RemoteHosts>> ConnectThoseThatCan(
      const RemoteHostsOptions& options);
  ~RemoteHosts();

  // Listens to all of them until `done`, or until it is `due`. kInterrupted or kTerminated at a
  // signal.
  absl::Status Await(const std::function<bool()>& done, RankHost::Time due = RankHost::kNever);
  // In the order of their first ranks, count() of them.
  RemoteHost& host(size_t number) { return *hosts_[number]; }

  // Whether the run directory of all is one, and of rank 0's host and this machine.
  bool share_run() const;
  bool shares_run_with_first() const { return Shares(0); }
  const std::string& first_name() const { return groups_.groups.front().name; }
  // By rank.
  std::vector<std::string> names() const;
  size_t count() const { return groups_.groups.size(); }

  std::vector<RankHost*> all();
  RankHost& HostOf(Rank rank);
  // From now on they tell `watcher`, which outlives them.
  void Tell(RankWatcher* watcher);
  // Gives a rank its place among those of its host, and its address.
  void Place(RankStart* start) const;

 private:
  RemoteHosts(HostSlots slots, const std::vector<std::string>& own_names);

  absl::Status Open(const RemoteHostsOptions& options);
  RemoteHostOptions OptionsOf(size_t group, const RemoteHostsOptions& options) const;
  launch::Start CheckOf(const HostGroup& group, const RemoteHostsOptions& options) const;
  bool undecided() const;
  bool Shares(size_t group) const { return here_[group] || hosts_[group]->shares_run(); }
  // Of those that cannot be used; OK if all can.
  absl::Status Problems() const;

  const HostSlots slots_;
  const HostGroups groups_;
  std::vector<bool> here_;                          // by group: whether it is this machine
  std::vector<std::unique_ptr<RemoteHost>> hosts_;  // by group
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_REMOTE_HOSTS_H_
