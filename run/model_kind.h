// What the name of a model says about its experiment, before the model is made.
//
// Pure functions; safe from any thread.
#ifndef GRAPEVINE_RUN_MODEL_KIND_H_
#define GRAPEVINE_RUN_MODEL_KIND_H_

#include "run/config.pb.h"

namespace grapevine {

// A phantom has a size and takes time, but has no weights to learn.
bool IsPhantom(const Config& config);

// Whether --data and --split mean anything: not to phantoms and quadratics.
bool ReadsData(const Config& config);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_MODEL_KIND_H_
