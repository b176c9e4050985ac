// What is registered of a problem that needs no data set: how it is written, and how it is
// made. All other models are networks (model/networks/network_registry.h).
//
// One of your own, an objective with its gradient, registers like quadratic_problem.cc:
// docs/extending.md.
//
// Thread-safety: immutable once registered; the functions are pure, safe from any thread.
#ifndef GRAPEVINE_MODEL_PROBLEM_PROBLEM_KIND_H_
#define GRAPEVINE_MODEL_PROBLEM_PROBLEM_KIND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/registry.h"
#include "base/spec.h"
#include "model/problem/problem.h"

namespace grapevine {

// What a run knows of its problem beside the spec.
struct ProblemRequest {
  int64_t nodes = 1;  // F_0 to F_(nodes - 1)
  int64_t batch_size = 1;
  uint64_t seed = 1;
};

struct ProblemKind {
  std::string name;     // "quadratic"
  std::string options;  // "[:dim=100]"
  std::string help;     // one line
  // Whether models mean something: else gradients are nothing but time.
  bool learns = true;
  std::function<absl::StatusOr<std::unique_ptr<Problem>>(const Spec&, const ProblemRequest&)> make;
};

// All problems without data of this program.
Registry<ProblemKind>& Problems();

// What the name of a model says before the model is made. A name that is no problem's is a
// network's: it learns, from data.
bool SeesData(std::string_view model);
bool Learns(std::string_view model);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_PROBLEM_KIND_H_
