// RemoteHosts are the machines of a launch, one of which may be this machine. They are connected
// and checked before a node starts on any of them.
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
  std::vector<std::string> own_names;  // the names under which `slots` may list this machine
  std::string shell = "ssh";           // a command; the host and what to run there are added
  std::string program;                 // the program on the hosts; empty: the path of this one
  std::string build;                   // version and revision
  std::string folder;                  // the folder to work in, on all hosts
  std::string run;                     // the run directory; empty: a dry run
  std::string run_lock;                // the text of the lock in this machine's run directory
  std::string config;                  // the text of the experiment's file
  // The arguments of a node, with {config} for the path of the experiment's file; the check adds
  // --dry-run. Empty: nothing is checked.
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
  std::chrono::milliseconds patience{60000};  // the time until all hosts are ready
  std::chrono::milliseconds silence{30000};   // the silence after which a host is lost
  // The time from SIGTERM to SIGKILL of nodes whose launcher is lost.
  std::chrono::milliseconds grace{10000};
};

// Thread-compatible.
class RemoteHosts {
 public:
  // Returns once all hosts are ready. Otherwise the error says which are not, and why: kRendezvous
  // if they cannot be reached, else what the check found. kInterrupted or kTerminated at a signal.
  // To be called on the main thread, before other threads exist, as Launch is.
  static absl::StatusOr<std::unique_ptr<RemoteHosts>> Connect(const RemoteHostsOptions& options);
  // Like Connect, but succeeds also if some hosts cannot be used: status() of each says why.
  static absl::StatusOr<std::unique_ptr<RemoteHosts>> ConnectThoseThatCan(
      const RemoteHostsOptions& options);
  ~RemoteHosts();

  // Listens to all hosts until `done` returns true, or until `due`. kInterrupted or kTerminated at
  // a signal.
  absl::Status Await(const std::function<bool()>& done, RankHost::Time due = RankHost::kNever);
  // Returns a host by its number, below count(). Hosts are in the order of their first ranks.
  RemoteHost& host(size_t number) { return *hosts_[number]; }

  // Returns whether all hosts, or rank 0's host (shares_run_with_first), have the run directory of
  // this machine.
  bool share_run() const;
  bool shares_run_with_first() const { return Shares(0); }
  const std::string& first_name() const { return groups_.groups.front().name; }
  // Returns the host of each rank.
  std::vector<std::string> names() const;
  size_t count() const { return groups_.groups.size(); }

  std::vector<RankHost*> all();
  RankHost& HostOf(Rank rank);
  // Makes all hosts tell `watcher`, which must outlive them, what happens from now on.
  void Tell(RankWatcher* watcher);
  // Gives a rank its place among the ranks of its host, and its address.
  void Place(RankStart* start) const;

 private:
  RemoteHosts(HostSlots slots, const std::vector<std::string>& own_names);

  absl::Status Open(const RemoteHostsOptions& options);
  RemoteHostOptions OptionsOf(size_t group, const RemoteHostsOptions& options) const;
  launch::Start CheckOf(const HostGroup& group, const RemoteHostsOptions& options) const;
  bool undecided() const;
  bool Shares(size_t group) const { return here_[group] || hosts_[group]->shares_run(); }
  // Returns the problems of the hosts that cannot be used; OK if all can.
  absl::Status Problems() const;

  const HostSlots slots_;
  const HostGroups groups_;
  std::vector<bool> here_;                          // by group: whether the host is this machine
  std::vector<std::unique_ptr<RemoteHost>> hosts_;  // by group
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_REMOTE_HOSTS_H_
