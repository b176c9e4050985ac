// Asynchronous EASGD and EAMSGD (Zhang, Choromanska and LeCun 2015, arXiv:1412.6651, algorithm 1),
// for the registrations of the synchronous ones.
//
// Workers and a centre, which the servers keep, pull at each other. A worker takes several steps of
// its own and gives its replica x; a server answers with E = alpha (x - c), by which its centre
// moves towards x, and the worker's replica moves back:
//   c <- c + E,   x <- x - E.
// Both moves are of the same vector: without gradients, the sum of all replicas and the centre
// stays. With alpha at most 1 all are convex averages, so that batch-norm statistics take part.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_ALGORITHM_SERVER_ASYNC_EASGD_H_
#define GRAPEVINE_ALGORITHM_SERVER_ASYNC_EASGD_H_

#include "algorithm/algorithm_kind.h"

namespace grapevine {

// The kind whose specs that begin with ":async" are asynchronous, "easgd:async:every=3:servers=2";
// all others are what `synchronous` makes of them.
AlgorithmKind WithAsyncEasgd(AlgorithmKind synchronous);

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_ASYNC_EASGD_H_
