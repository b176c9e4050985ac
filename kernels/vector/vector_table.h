// The memory behind an algorithm's handles: the CPU's, or a device's.
//
// One thread at a time, also for const methods, since a vector gets its memory on first use:
// the driver's thread. Any thread may hold the SharedVectors and slices that it returns; they
// keep the memory alive after Drop.
#ifndef GRAPEVINE_KERNELS_VECTOR_VECTOR_TABLE_H_
#define GRAPEVINE_KERNELS_VECTOR_VECTOR_TABLE_H_

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kernels/passes/mix_and_step.h"
#include "kernels/vector/shared_vector.h"
#include "kernels/vector/vector_handle.h"
#include "kernels/vector/vector_passes.h"

namespace grapevine {

class VectorTable {
 public:
  // On the CPU.
  VectorTable();
  // Memory from `allocate`, on which `passes` work; `passes` outlives the table. `allocate` is
  // given a vector's role.
  VectorTable(VectorPasses* passes, AllocateVector allocate);

  // An uninitialized vector of `size` elements. It gets its memory on first use. `role`, for
  // error messages, says what it is for: "a neighbour's replica". A string literal: only the
  // pointer is kept, since a simulation has millions of vectors.
  Vec New(int64_t size, const char* role);
  void Drop(Vec vector);

  // CHECK that the handle is live: a dead one is a bug of the algorithm.
  int64_t size(Vec vector) const;
  const char* role(Vec vector) const;
  Part Whole(Vec vector) const { return {vector, 0, size(vector)}; }
  // No data if memory was exhausted.
  const SharedVector& At(Vec vector) const;
  SharedSlice Slice(const Part& part) const;

  // Whoever writes through At or Slice calls MakeOwn first, where vectors are shared.
  //
  // Makes `into` share the memory of `whole`, another vector of the same size, instead of
  // copying it. Call MakeOwn before either is written again.
  void Share(const SharedVector& whole, Vec into);
  // Gives `vector` memory of its own, with its elements, if it was shared.
  void MakeOwn(Vec vector);

  // The terms with their memory, weights in single precision.
  std::vector<WeightedVector> Resolve(std::span<const Term> terms) const;
  // out <- sum of terms in the listed order, element-wise; a term may be `out`.
  void Combine(const Part& out, std::span<const Term> terms);
  // Clips the elements to a Euclidean norm (kernels/vector/norms.h).
  void Clip(const Part& part, double limit);
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
  // Memory for an entry that has none, or shares it with others.
  SharedVector Take(const Entry& entry) const;

  VectorPasses* const passes_;
  mutable VectorPool pool_;
  uint32_t last_id_ = 0;
  mutable std::unordered_map<uint32_t, Entry> vectors_;
  SharedVector scratch_;  // of clipping; on a device used in the order of the passes
  mutable std::unordered_set<const float*> shared_;  // by several vectors, once or still
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_VECTOR_TABLE_H_
