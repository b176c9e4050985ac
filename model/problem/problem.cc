#include "model/problem/problem.h"

namespace grapevine {
namespace {

const ProblemKind* Find(std::string_view model) {
  return Problems().Find(model.substr(0, model.find(':')));
}

}  // namespace

Registry<ProblemKind>& Problems() {
  static auto* const problems = new Registry<ProblemKind>("problem");
  return *problems;
}

bool SeesData(std::string_view model) { return model != kOutsideModel && Find(model) == nullptr; }

bool Learns(std::string_view model) {
  const ProblemKind* const problem = Find(model);
  return problem == nullptr || problem->learns;
}

}  // namespace grapevine
