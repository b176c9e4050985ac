#include "kernels/vector/vector_table.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "kernels/vector/norms.h"

namespace grapevine {
namespace {

VectorPasses* TheCpu() {
  static CpuPasses cpu;
  return &cpu;
}

}  // namespace

VectorTable::VectorTable() : passes_(TheCpu()) {}

VectorTable::VectorTable(VectorPasses* passes, AllocateVector allocate)
    : passes_(passes), pool_(std::move(allocate)) {}

Vec VectorTable::New(int64_t size, const char* role) {
  const Vec vector{++last_id_};
  vectors_.emplace(vector.id, Entry{{.data = nullptr, .size = size}, role});
  return vector;
}

void VectorTable::Drop(Vec vector) {
  CHECK_EQ(vectors_.erase(vector.id), 1u) << "vector " << vector.id << " was dropped twice";
}

VectorTable::Entry& VectorTable::Find(Vec vector) const {
  const auto it = vectors_.find(vector.id);
  CHECK(it != vectors_.end()) << "vector " << vector.id << " was used after it was dropped";
  return it->second;
}

int64_t VectorTable::size(Vec vector) const { return Find(vector).memory.size; }

const char* VectorTable::role(Vec vector) const { return Find(vector).role; }

const SharedVector& VectorTable::At(Vec vector) const {
  Entry& entry = Find(vector);
  if (!entry.memory.data) entry.memory = Take(entry);
  return entry.memory;
}

SharedVector VectorTable::Take(const Entry& entry) const {
  SharedVector memory = pool_.Take(entry.memory.size, entry.role);
  shared_.erase(memory.data.get());  // no other vector has this memory any more
  return memory;
}

void VectorTable::Share(const SharedVector& whole, Vec into) {
  Entry& entry = Find(into);
  CHECK_EQ(whole.size, entry.memory.size)
      << entry.role << " was to share the memory of a vector of another size";
  entry.memory = whole;
  shared_.insert(whole.data.get());
}

void VectorTable::MakeOwn(Vec vector) {
  Entry& entry = Find(vector);
  if (!shared_.contains(entry.memory.data.get())) return;
  const SharedVector own = Take(entry);
  std::copy_n(entry.memory.data.get(), entry.memory.size, own.data.get());
  entry.memory = own;
}

SharedSlice VectorTable::Slice(const Part& part) const {
  const SharedVector& memory = At(part.vector);
  CHECK(part.offset >= 0 && part.size >= 0 && part.offset + part.size <= memory.size)
      << "part [" << part.offset << ", " << part.offset + part.size << ") of " << role(part.vector)
      << ", a vector of " << memory.size;
  return {memory.data, part.offset, part.size};
}

std::vector<WeightedVector> VectorTable::Resolve(std::span<const Term> terms) const {
  std::vector<WeightedVector> vectors;
  vectors.reserve(terms.size());
  for (const Term& term : terms) {
    vectors.push_back({static_cast<float>(term.weight), Slice(term.part).begin()});
  }
  return vectors;
}

void VectorTable::Combine(const Part& out, std::span<const Term> terms) {
  MakeOwn(out.vector);
  for (const Term& term : terms) {
    CHECK_EQ(term.part.size, out.size)
        << "terms of a sum into " << role(out.vector) << " differ in size";
  }
  passes_->WeightedSum(Resolve(terms), out.size, Slice(out).begin());
}

void VectorTable::Clip(const Part& part, double limit) {
  constexpr int64_t kFloats = sizeof(double) / sizeof(float);
  MakeOwn(part.vector);
  const int64_t scratch = ClipScratch(part.size) * kFloats;
  if (scratch_.size < scratch) scratch_ = pool_.Take(scratch, "the norm of a vector");
  if (scratch_.data == nullptr) return;  // the owner of the memory knows that it is exhausted
  passes_->ClipNorm(Slice(part).begin(), part.size, limit,
                    reinterpret_cast<double*>(scratch_.data.get()));
}

void VectorTable::Clear(Vec vector) {
  const SharedVector& memory = At(vector);
  passes_->WeightedSum({}, memory.size, memory.data.get());
}

}  // namespace grapevine
