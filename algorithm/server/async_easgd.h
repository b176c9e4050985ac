// Asynchronous EASGD and EAMSGD (Zhang, Choromanska and LeCun 2015, arXiv:1412.6651, algorithm 1),
// for the registrations of their synchronous forms.
//
// Workers pull at a centre, which the servers keep, and the centre pulls at them. A worker takes
// several steps of its own and gives its replica x. A server answers with E = alpha (x - c), by
// which its centre c moves towards x and the worker's replica moves back:
//   c <- c + E,   x <- x - E.
// Both moves are of the same vector, so that without gradients the sum of all replicas and the
// centre stays. With alpha at most 1 all results are convex averages, so that batch-norm statistics
// take part.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_ALGORITHM_SERVER_ASYNC_EASGD_H_
#define GRAPEVINE_ALGORITHM_SERVER_ASYNC_EASGD_H_

#include "algorithm/algorithm_kind.h"

namespace grapevine {

// Returns the kind whose specs that begin with ":async" are asynchronous, such as
// "easgd:async:every=3:servers=2". All other specs are those of `synchronous`.
AlgorithmKind WithAsyncEasgd(AlgorithmKind synchronous);

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_ASYNC_EASGD_H_
