#include "model/problem/phantom_problem.h"

#include <algorithm>
#include <memory>
#include <string>

#include "base/spec.h"
#include "base/status.h"
#include "base/units.h"
#include "model/problem/problem.h"

namespace grapevine {

PhantomObjective::PhantomObjective(const PhantomOptions& options) : options_(options) {
  layout_.AddParameter("phantom", {options_.elements});
}

void PhantomObjective::Initialize(float* replica) { std::fill_n(replica, layout_.size, 0.0f); }

absl::StatusOr<double> PhantomObjective::Gradient(const float* replica, int64_t round,
                                                  float* gradient) {
  if (seen_.insert(gradient).second) std::fill_n(gradient, layout_.size, 0.0f);
  return 0.0;
}

void PhantomProblem::Initialize(float* replica) const { std::fill_n(replica, layout_.size, 0.0f); }

absl::StatusOr<std::vector<std::unique_ptr<Objective>>> PhantomProblem::MakeObjectives(
    int64_t first, int64_t last, const ComputeContext&) const {
  std::vector<std::unique_ptr<Objective>> objectives;
  for (; first < last; ++first) objectives.push_back(std::make_unique<PhantomObjective>(options_));
  return objectives;
}

namespace {

// The largest replica in bytes. Bytes and nanoseconds of a run are counted in 64 bits.
constexpr int64_t kMostBytes = 1'000'000'000'000'000;

// Makes the problem of a spec "phantom:SIZE".
absl::StatusOr<std::unique_ptr<Problem>> MakePhantom(const Spec& spec,
                                                     const ProblemRequest& request) {
  SpecReader reader(spec);
  const std::string size = reader.Argument();
  RETURN_IF_ERROR(reader.Finish());
  ASSIGN_OR_RETURN(const int64_t bytes, ParseSize(size));
  constexpr int64_t kElement = sizeof(float);
  if (bytes < kElement) return SpecError(spec.text, "a replica has at least one fp32 number (4B)");
  if (bytes > kMostBytes) return SpecError(spec.text, "a replica has at most 1 PB");
  return std::make_unique<PhantomProblem>(
      PhantomOptions{.elements = bytes / kElement, .batch_size = request.batch_size});
}

const Registration kPhantom(Problems(), {.name = "phantom",
                                         .options = ":SIZE",
                                         .help = "real bytes, no learning",
                                         .examples = {"phantom:1kB"},
                                         .learns = false,
                                         .make = MakePhantom});

}  // namespace

}  // namespace grapevine
