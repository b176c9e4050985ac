// What a node does with the decrees of its coordinator: that it say how far it may go, that it save
// after a round, that it go on with a view, that it go on without gradients (control.proto).
//
// Without I/O: the runner is told, and what others must do goes out through orders. Real nodes
// (node_session.h) and simulated ones (tests/node/whole_node) obey through this class alone.
//
// Thread-compatible: all decrees come from one thread, in the order in which they were heard.
#ifndef GRAPEVINE_NODE_LIFE_DECREES_H_
#define GRAPEVINE_NODE_LIFE_DECREES_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "base/ids.h"
#include "node/control/control.pb.h"
#include "node/runner/runner.h"

namespace grapevine {

class Decrees {
 public:
  struct Options {
    Rank rank = 0;
    // Whether the coordinator calls for checkpoints of rounds that nodes go through together.
    bool saves_on_call = false;
    // Whether the coordinator's role may move to this node.
    bool role_moves = false;
  };
  struct Orders {
    // The coordinator must be told the last round that this node may begin.
    std::function<void(uint32_t ballot, Round round)> promise;
    // The transport must accept a newcomer, which takes the place of a lost node.
    std::function<void(const control::Newcomer&)> expect;
    // The rounds below `below` need no gradients of a program that has given its last one. With
    // `all`, the program is to give no more than one.
    std::function<void(Round below, bool all)> coast;
    // Averaged models come from this round on, and none of an earlier round: this node has the role
    // of a lost one. Called before the runner hears of the view.
    std::function<void(Round)> evaluate_from;
  };
  // `runner` outlives the decrees. An order may be empty where its decree cannot come.
  Decrees(const Options& options, Orders orders, Runner* runner)
      : options_(options), orders_(std::move(orders)), runner_(*runner) {}

  // `decree` has been checked (CheckDirective).
  void Obey(const control::Directive& decree);

 private:
  void Prepare(uint32_t ballot);
  void Change(const control::View& view);

  const Options options_;
  const Orders orders_;
  Runner& runner_;
  bool leads_ = false;  // whether the averaged models of a view are put together here
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LIFE_DECREES_H_
