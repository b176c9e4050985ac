// Random requests at all nodes of a transport at once, which must all end as its header promises.
//
// Nodes send what others foresee, offer what they do not, post ahead, answer offers or leave them
// for later, and withdraw posts, with few tags, which are used again as soon as they are free. What
// a node knows are the reports that it has been handed, and those lag behind.
#ifndef GRAPEVINE_TESTS_NODE_TRANSPORT_RANDOM_TRAFFIC_H_
#define GRAPEVINE_TESTS_NODE_TRANSPORT_RANDOM_TRAFFIC_H_

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "random/keyed_random.h"
#include "system/mutex.h"
#include "tests/node/transport/transport_harness.h"

namespace grapevine {

// Thread-compatible; once for each network.
class RandomTraffic {
 public:
  RandomTraffic(TransportNetwork* network, Rank nodes, uint64_t seed);
  ~RandomTraffic();

  // Makes so many requests and waits for the end of all. What went wrong first; empty if nothing.
  std::string Run(int requests);

  int taken() const { return taken_; }
  int declined() const { return declined_; }
  int lost() const { return lost_; }

 private:
  using Name = std::pair<Rank, Tag>;
  struct Sending {
    int64_t serial = 0;
    bool offered = false;
    bool left = false;
  };
  struct Posted {
    SharedSlice buffer;
    bool answers = false;
    bool withdrawn = false;
  };
  // As far as a node knows.
  struct Node {
    std::map<Name, Sending> sending;
    std::map<Name, Posted> posts;
    std::set<Name> offers;
  };

  Transport& transport(Rank rank) { return network_->transport(rank); }
  bool Chance(uint64_t of) { return random_.Below(of) == 0; }
  void Fail(Rank rank, const std::string& what, const Name& name);
  void Check(Rank rank, const absl::Status& status, const Name& name);

  void Request(Rank rank);
  void Send(Rank rank, const Name& name, bool offered);
  void Post(Rank rank, const Name& name);
  void Answer(Rank rank, Name name, bool take);  // a copy: the offer is forgotten
  void Withdraw(Rank rank, const Name& name);
  // All that must be for everything to end.
  void Settle();
  bool over() const;

  bool reported();
  // The next report, of any node; waits for it up to `patience`.
  std::optional<std::pair<Rank, Report>> Take(std::chrono::milliseconds patience);
  void Handle(Rank rank, const Report& report);
  void OnReceived(Rank rank, const Name& name, const Report& report);
  void OnEnd(Rank rank, const Name& name, bool delivered);

  TransportNetwork* const network_;
  const Rank size_;
  KeyedRandom random_;
  std::vector<Node> nodes_;
  int64_t serial_ = 0;
  int taken_ = 0, declined_ = 0, lost_ = 0;
  std::string wrong_;

  Mutex mutex_;
  Condition reported_;
  std::deque<std::pair<Rank, Report>> reports_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_NODE_TRANSPORT_RANDOM_TRAFFIC_H_
