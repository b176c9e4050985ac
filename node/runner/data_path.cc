#include "node/runner/data_path.h"

#include <algorithm>
#include <cmath>
#include <variant>
#include <vector>

#include "kernels/vector/norms.h"
#include "kernels/vector/vector_passes.h"
#include "optim/optimizer.h"

namespace grapevine {

Vec DataPath::NewZeros(int64_t size, const char* role) {
  const Vec vector = vectors().New(size, role);
  const Part written = vectors().Whole(vector);
  Pass({}, {&written, 1}, CombineTraffic(0, size), [&] { vectors().Clear(vector); });
  return vector;
}

void DataPath::Combine(Part out, std::span<const Term> terms) {
  std::vector<Part> reads;
  for (const Term& term : terms) reads.push_back(term.part);
  Pass(reads, {&out, 1}, CombineTraffic(terms.size(), out.size),
       [&] { vectors().Combine(out, terms); });
}

void DataPath::Clip(Part part, double limit) {
  Pass({&part, 1}, {&part, 1}, ClipTraffic(part.size), [&] { vectors().Clip(part, limit); });
}

void DataPath::Step(const Optimizer& optimizer, const ReplicaLayout& layout,
                    const StepRequest& request) {
  std::vector<Part> reads = {vectors().Whole(request.own), vectors().Whole(request.gradient)};
  for (const Term& term : request.mix) reads.push_back(term.part);
  const Part writes[] = {vectors().Whole(request.out), vectors().Whole(request.state)};
  Pass(reads, writes, StepTraffic(request.mix.size(), optimizer.step_vectors(), request.range.size),
       [&] { ApplyStep(optimizer, layout, request, vectors()); });
}

void HostDataPath::Pass(std::span<const Part>, std::span<const Part>, int64_t bytes,
                        const std::function<void()>& pass) {
  const auto begin = std::chrono::steady_clock::now();
  pass();
  on_pass_(begin, std::chrono::steady_clock::now(), bytes);
}

absl::StatusOr<SharedVector> HostDataPath::Copy(Vec vector) {
  const SharedVector& memory = vectors_.At(vector);
  SharedVector copy = NewSharedVector(memory.size);
  std::ranges::copy(memory.span(), copy.data.get());
  return copy;
}

bool HostDataPath::IsFinite(const SharedVector& gradient) const {
  return std::isfinite(SquaredNorm(gradient.data.get(), gradient.size));
}

SharedBytes HostDataPath::MemoryOf(const Payload& payload) const {
  return std::visit([this](const Part& part) { return SharedBytes(vectors_.Slice(part)); },
                    payload);
}

}  // namespace grapevine
