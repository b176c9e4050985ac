// The memory behind an algorithm's handles: the CPU's, or a device's.
//
// One thread at a time, const methods too, since a vector gets its memory when it is
// first used: the driver's thread. The SharedVectors and slices that it
// gives out may be held by any thread and keep the memory alive after Drop.
#ifndef GRAPEVINE_KERNELS_VECTOR_VECTOR_TABLE_H_
#define GRAPEVINE_KERNELS_VECTOR_VECTOR_TABLE_H_

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kernels/passes/weighted_sum.h"
#include "kernels/vector/shared_vector.h"
#include "kernels/vector/vector_handle.h"
#include "kernels/vector/vector_passes.h"

namespace grapevine {

class VectorTable {
 public:
  // On the CPU.
  VectorTable();
  // Memory from `allocate`, on which `passes`, which outlives the table, work. `allocate`
  // is told a vector's role.
  VectorTable(VectorPasses* passes, AllocateVector allocate);

  // An undefined vector of `size` elements. It gets its memory when it is first used.
  // `role`, for messages of errors alone, says what it is for: "a neighbour's replica". It
  // is kept as it is, since a simulation has millions of vectors: a literal.
  Vec New(int64_t size, const char* role);
  void Drop(Vec vector);

  // CHECK that the handle is live: a dead one is a bug of the algorithm.
  int64_t size(Vec vector) const;
  const char* role(Vec vector) const;
  Part Whole(Vec vector) const { return {vector, 0, size(vector)}; }
  // No data where there was no memory for it.
  const SharedVector& At(Vec vector) const;
  SharedSlice Slice(const Part& part) const;

  // Whoever writes through At or Slice calls MakeOwn first, where vectors are shared.
  //
  // Lets `into` have the memory behind `whole`, another vector's of the same size,
  // in place of a copy. MakeOwn before either is written again.
  void Share(const SharedVector& whole, Vec into);
  // Gives `vector` memory of its own, with its elements, if it was shared.
  void MakeOwn(Vec vector);

  // The terms with their memory, weights in single precision.
  std::vector<WeightedVector> Resolve(std::span<const Term> terms) const;
  // out <- sum of terms in the listed order, element-wise; a term may be `out`.
  void Combine(const Part& out, std::span<const Term> terms);
  // All elements zero.
  void Clear(Vec vector);

  VectorPasses& passes() const { return *passes_; }

  // Live handles, for tests of leaks.
  size_t live() const { return vectors_.size(); }
  int64_t bytes() const { return pool_.bytes(); }

 private:
  struct Entry {
    SharedVector memory;  // no data until the first use
    const char* role;
  };

  Entry& Find(Vec vector) const;
  // Memory for an entry that has none, or one that others have too.
  SharedVector Take(const Entry& entry) const;

  VectorPasses* const passes_;
  mutable VectorPool pool_;
  uint32_t last_id_ = 0;
  mutable std::unordered_map<uint32_t, Entry> vectors_;
  mutable std::unordered_set<const float*> shared_;  // by several vectors, once or still
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_VECTOR_TABLE_H_
