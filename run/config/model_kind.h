// What the name of a model says about its experiment, before the model is made.
//
// Pure functions; safe from any thread.
#ifndef GRAPEVINE_RUN_CONFIG_MODEL_KIND_H_
#define GRAPEVINE_RUN_CONFIG_MODEL_KIND_H_

#include "run/config/config.pb.h"

namespace grapevine {

enum class ModelKind {
  kNetwork,    // over a data set
  kQuadratic,  // "quadratic:...": no data, epochs or accuracy
  kPhantom,    // "phantom:SIZE": nothing to learn either
};

ModelKind KindOf(const Config& config);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_MODEL_KIND_H_
