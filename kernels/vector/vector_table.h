// The memory behind an algorithm's handles, on the CPU or on a device.
//
// A table belongs to one thread at a time, the driver's; this holds for const methods too, since a
// vector gets its memory on first use. Any thread may hold the SharedVectors and slices that the
// table returns; they keep the memory alive after Drop.
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
  // A table of CPU memory.
  VectorTable();
  // A table whose memory comes from `allocate`, which receives a vector's role. `passes` works on
  // that memory and must outlive the table.
  VectorTable(VectorPasses* passes, AllocateVector allocate);

  // Makes an uninitialized vector of `size` elements. It gets its memory on first use. `role` says
  // in error messages what the vector is for: "a neighbour's replica". `role` must be a string
  // literal: only the pointer is kept, since a simulation has millions of vectors.
  Vec New(int64_t size, const char* role);
  void Drop(Vec vector);

  // The methods below CHECK that a handle is live: a dead one is a bug of the algorithm.
  int64_t size(Vec vector) const;
  const char* role(Vec vector) const;
  Part Whole(Vec vector) const { return {vector, 0, size(vector)}; }
  // Returns the memory of `vector`; it has no data if memory was exhausted.
  const SharedVector& At(Vec vector) const;
  SharedSlice Slice(const Part& part) const;

  // Makes `into` share the memory of `whole`, another vector of the same size, instead of
  // copying it. Call MakeOwn before either vector is written again, through At, Slice or otherwise.
  void Share(const SharedVector& whole, Vec into);
  // Gives `vector` a copy of its elements in memory of its own if its memory was shared.
  void MakeOwn(Vec vector);

  // Returns the terms with their memory, and with weights in single precision.
  std::vector<WeightedVector> Resolve(std::span<const Term> terms) const;
  // out <- the element-wise sum of `terms` in the listed order. A term may be `out`.
  void Combine(const Part& out, std::span<const Term> terms);
  // Clips the elements of `part` to the Euclidean norm `limit` (kernels/vector/norms.h).
  void Clip(const Part& part, double limit);
  // Sets all elements to zero.
  void Clear(Vec vector);

  VectorPasses& passes() const { return *passes_; }

  // Returns the number of live handles, for tests of leaks.
  size_t live() const { return vectors_.size(); }
  int64_t bytes() const { return pool_.bytes(); }

 private:
  struct Entry {
    SharedVector memory;  // no data until the first use
    const char* role;
  };

  Entry& Find(Vec vector) const;
  // Returns fresh memory for an entry that has none, or that shares its memory.
  SharedVector Take(const Entry& entry) const;

  VectorPasses* const passes_;
  mutable VectorPool pool_;
  uint32_t last_id_ = 0;
  mutable std::unordered_map<uint32_t, Entry> vectors_;
  SharedVector scratch_;  // for clipping; a device uses it in the order of the passes
  mutable std::unordered_set<const float*> shared_;  // memory that several vectors share or shared
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_VECTOR_TABLE_H_
