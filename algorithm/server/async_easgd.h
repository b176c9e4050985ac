// Asynchronous EASGD and EAMSGD (elastic_averaging.h), for the registrations of the synchronous
// ones.
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
