// Whether a directive can be obeyed: what a node asks before it does what rank 0 says.
//
// Pure function, safe from any thread.
#ifndef GRAPEVINE_NODE_CONTROL_DIRECTIVE_H_
#define GRAPEVINE_NODE_CONTROL_DIRECTIVE_H_

#include "absl/status/status.h"
#include "base/ids.h"
#include "node/control/control.pb.h"

namespace grapevine {

// What a node knows of its run.
struct DirectiveContext {
  Rank world_size = 0;
  Round rounds = 0;     // no limit of rounds lies beyond
  bool joined = false;  // the roster has come
};

// InvalidArgument says what is wrong, in words that fit behind "rank 0 ".
absl::Status CheckDirective(const control::Directive& directive, const DirectiveContext& context);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_DIRECTIVE_H_
