// The names of nodes and rounds.
#ifndef GRAPEVINE_BASE_IDS_H_
#define GRAPEVINE_BASE_IDS_H_

#include <cstdint>

namespace grapevine {

using Rank = int32_t;   // a node of a run, from 0
using Round = int64_t;  // of a node, from 0

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_IDS_H_
