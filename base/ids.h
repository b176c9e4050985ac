// The types that identify nodes and rounds.
#ifndef GRAPEVINE_BASE_IDS_H_
#define GRAPEVINE_BASE_IDS_H_

#include <cstdint>

namespace grapevine {

using Rank = int32_t;   // number of a node in its run, from 0
using Round = int64_t;  // number of a node's round, from 0

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_IDS_H_
