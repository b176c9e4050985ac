// A judgement of a run's coordinator on a member.
#ifndef GRAPEVINE_NODE_CONTROL_BLAME_H_
#define GRAPEVINE_NODE_CONTROL_BLAME_H_

#include <string>

#include "base/ids.h"
#include "base/status.h"

namespace grapevine {

// Why a member has to go, or, with a culprit of -1, why the run cannot go on with any.
struct Blame {
  Rank culprit;
  Failure failure;
  std::string message;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_BLAME_H_
