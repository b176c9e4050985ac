// EASGD and EAMSGD: elastic averaging. In the synchronous form (elastic_centre.h), an allreduce
// sums the replicas while the gradients are computed at them, and every node moves its copy of the
// centre by the same bits; no server is needed. In the asynchronous form, servers keep the centre
// (async_easgd.h).
//
// EAMSGD is EASGD whose local steps have Nesterov's momentum.
#include <memory>
#include <utility>

#include "algorithm/averaging/allreduce_averaging.h"
#include "algorithm/local/elastic_centre.h"
#include "algorithm/server/async_easgd.h"

namespace grapevine {
namespace {

std::unique_ptr<OuterStep> Elastic(SpecReader& reader, Rank nodes) {
  return std::make_unique<ElasticCentre>(ElasticRate(nodes, ElasticRate::ReadRho(reader)));
}

AlgorithmKind ElasticKind(AlgorithmKind kind) {
  kind.options = "[:rho=R][:every=1][:KIND]";
  return WithAsyncEasgd(AveragingKind({.every = 1,
                                       .order = StepOrder::kAwc,
                                       .outer = Elastic,
                                       .outer_vectors = ElasticCentre::kVectors},
                                      std::move(kind)));
}

const Registration kEasgd(Algorithms(),
                          ElasticKind({.name = "easgd",
                                       .help = "EASGD: replicas and a centre pull at each other; "
                                               "alpha = rho lr, by default 0.9/n",
                                       .examples = {"easgd", "easgd:rho=0.8:every=3:tree"}}));

const Registration kEamsgd(Algorithms(),
                           ElasticKind({.name = "eamsgd",
                                        .help = "EASGD with Nesterov's momentum in the local steps "
                                                "(--optimizer=nesterov)",
                                        .examples = {"eamsgd:every=2"},
                                        .optimizer = "nesterov"}));

}  // namespace
}  // namespace grapevine
