#include "kernels/vector_table.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace grapevine {
namespace {

VectorPasses* TheCpu() {
  static CpuPasses cpu;
  return &cpu;
}

}  // namespace

VectorTable::VectorTable() : VectorTable(TheCpu(), NewSharedVector) {}

VectorTable::VectorTable(VectorPasses* passes, AllocateVector allocate)
    : passes_(passes), pool_(std::move(allocate)) {}

Vec VectorTable::New(int64_t size) {
  const Vec vector{++last_id_};
  vectors_.emplace(vector.id, SharedVector{.data = nullptr, .size = size});
  return vector;
}

void VectorTable::Drop(Vec vector) {
  CHECK_EQ(vectors_.erase(vector.id), 1u) << "vector " << vector.id << " was dropped twice";
}

SharedVector& VectorTable::Find(Vec vector) const {
  const auto it = vectors_.find(vector.id);
  CHECK(it != vectors_.end()) << "vector " << vector.id << " was used after it was dropped";
  return it->second;
}

int64_t VectorTable::size(Vec vector) const { return Find(vector).size; }

const SharedVector& VectorTable::At(Vec vector) const {
  SharedVector& memory = Find(vector);
  if (!memory.data) memory = Take(memory.size);
  return memory;
}

SharedVector VectorTable::Take(int64_t size) const {
  SharedVector memory = pool_.Take(size);
  shared_.erase(memory.data.get());  // nobody else has it any more
  return memory;
}

void VectorTable::Share(const SharedVector& whole, Vec into) {
  SharedVector& memory = Find(into);
  CHECK_EQ(whole.size, memory.size) << "vectors that share their memory differ in size";
  memory = whole;
  shared_.insert(whole.data.get());
}

void VectorTable::MakeOwn(Vec vector) {
  SharedVector& memory = Find(vector);
  if (!shared_.contains(memory.data.get())) return;
  const SharedVector own = Take(memory.size);
  std::copy_n(memory.data.get(), memory.size, own.data.get());
  memory = own;
}

SharedSlice VectorTable::Slice(const Part& part) const {
  const SharedVector& vector = At(part.vector);
  CHECK(part.offset >= 0 && part.size >= 0 && part.offset + part.size <= vector.size)
      << "part [" << part.offset << ", " << part.offset + part.size << ") of a vector of "
      << vector.size;
  return {vector.data, part.offset, part.size};
}

void VectorTable::Combine(const Part& out, std::span<const Term> terms) {
  MakeOwn(out.vector);
  std::vector<WeightedVector> vectors;
  vectors.reserve(terms.size());
  for (const Term& term : terms) {
    CHECK_EQ(term.part.size, out.size) << "terms of a sum differ in size";
    vectors.push_back({static_cast<float>(term.weight), Slice(term.part).begin()});
  }
  passes_->WeightedSum(vectors, out.size, Slice(out).begin());
}

void VectorTable::Clear(Vec vector) {
  const SharedVector& memory = At(vector);
  passes_->WeightedSum({}, memory.size, memory.data.get());
}

}  // namespace grapevine
