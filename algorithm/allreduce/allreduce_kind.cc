#include "algorithm/allreduce/allreduce_kind.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace grapevine {
namespace {

int64_t MessagesOf(const AllreduceSchedule& schedule) {
  constexpr int64_t kEnough = int64_t{1} << 40;  // elements; large enough that no piece is empty
  int64_t messages = 0;
  for (int level = 0; level < schedule.levels(); ++level) {
    for (const ElementRange& range : schedule.Step(level, kEnough).sent) {
      messages += range.size() > 0 ? 1 : 0;
    }
  }
  return messages;
}

}  // namespace

double MessagesOfASum(const AllreduceFactory& make, Rank size) {
  // The ranks that are looked at: all, or a sample that shares no pattern with the powers of two.
  constexpr Rank kMaxRanks = 256, kStride = 7919;
  const Rank seen = std::min(size, kMaxRanks);
  int64_t messages = 0;
  for (Rank i = 0; i < seen; ++i) {
    const int64_t rank = seen == size ? i : int64_t{i} * kStride % size;
    for (const auto& schedule : make(static_cast<Rank>(rank))) messages += MessagesOf(*schedule);
  }
  return static_cast<double>(messages) * size / seen;
}

Registry<AllreduceKind>& Allreduces() {
  static auto* const allreduces = new Registry<AllreduceKind>("allreduce");
  return *allreduces;
}

absl::StatusOr<AllreduceFactory> ReadAllreduce(const Spec& spec, SpecReader& reader, Rank size) {
  const std::string name = reader.Argument(kDefaultAllreduce);
  const AllreduceKind* const kind = Allreduces().Find(name);
  if (kind != nullptr) return kind->read(spec, reader, size);
  return UnknownNameError("allreduce", spec.text, name, Allreduces().Listings());
}

bool FitsAnySize(const Spec& spec) {
  constexpr Rank kSizes = 8;
  for (Rank size = 1; size <= kSizes; ++size) {
    SpecReader reader(spec);
    if (!ReadAllreduce(spec, reader, size).ok()) return false;
  }
  return true;
}

}  // namespace grapevine
