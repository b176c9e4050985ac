#include "kernels/vector_table.h"

#include <glog/logging.h>

#include <vector>

#include "kernels/weighted_sum.h"

namespace grapevine {

Vec VectorTable::New(int64_t size) {
  const Vec vector{++last_id_};
  vectors_.emplace(vector.id, SharedVector{.data = nullptr, .size = size});
  return vector;
}

void VectorTable::Drop(Vec vector) {
  CHECK_EQ(vectors_.erase(vector.id), 1u) << "vector " << vector.id << " was dropped twice";
}

const SharedVector& VectorTable::At(Vec vector) const {
  const auto it = vectors_.find(vector.id);
  CHECK(it != vectors_.end()) << "vector " << vector.id << " was used after it was dropped";
  if (!it->second.data) it->second = pool_.Take(it->second.size);
  return it->second;
}

SharedSlice VectorTable::Slice(const Part& part) const {
  const SharedVector& vector = At(part.vector);
  CHECK(part.offset >= 0 && part.size >= 0 && part.offset + part.size <= vector.size)
      << "part [" << part.offset << ", " << part.offset + part.size << ") of a vector of "
      << vector.size;
  return {vector.data, part.offset, part.size};
}

void VectorTable::Combine(const Part& out, std::span<const Term> terms) {
  std::vector<WeightedVector> vectors;
  vectors.reserve(terms.size());
  for (const Term& term : terms) {
    CHECK_EQ(term.part.size, out.size) << "terms of a sum differ in size";
    vectors.push_back({static_cast<float>(term.weight), Slice(term.part).begin()});
  }
  WeightedSum(vectors, out.size, Slice(out).begin());
}

}  // namespace grapevine
