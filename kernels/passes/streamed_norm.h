// The squared Euclidean norm of a vector whose bytes arrive in pieces, as from a network. The bytes
// are read while they are in the cache; pieces may be cut anywhere.
//
// The sum has the order of ordered_sum.h, so its bits are those of SquaredNorm
// (kernels/vector/norms.h) over the whole vector. It is finite if and only if every element is: a
// double holds the sum of the squares of any floats. A caller that needs only the finiteness asks
// for Wanted::kFiniteness, which takes a fraction of the time.
//
// Thread-compatible.
#ifndef GRAPEVINE_KERNELS_PASSES_STREAMED_NORM_H_
#define GRAPEVINE_KERNELS_PASSES_STREAMED_NORM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/passes/instruction_set.h"
#include "kernels/passes/ordered_sum.h"

namespace grapevine {

class StreamedNorm {
 public:
  enum class Wanted {
    kNorm,
    kFiniteness,  // squared() is 0 or infinity
  };

  // The vector has at most `most_bytes` bytes. Allocates 8 bytes for every 16 KiB of it, at most
  // 8 KiB; nothing for kFiniteness.
  explicit StreamedNorm(int64_t most_bytes, Wanted wanted = Wanted::kNorm,
                        InstructionSet set = BestInstructionSet());

  // Adds the vector's next `size` bytes, which may begin or end within an element.
  void Add(const std::byte* bytes, int64_t size);

  // Returns the squared norm of the elements that have arrived whole.
  double squared() const;

 private:
  static constexpr int64_t kElement = sizeof(float);

  // Adds bytes to the element that is cut; returns how many of them it took.
  int64_t Complete(const std::byte* bytes, int64_t size);
  // Adds `count` whole elements, which must not pass the end of the current chunk.
  void AddElements(const std::byte* bytes, int64_t count);

  const Wanted wanted_;
  const InstructionSet set_;
  alignas(64) std::array<double, kSumLanes> lanes_ = {};  // lanes of the current chunk
  std::vector<double> chunk_lanes_;                       // lanes of the completed chunks
  int64_t chunks_ = 0;
  int64_t position_ = 0;  // elements of the current chunk so far
  std::array<std::byte, kElement> cut_ = {};
  int64_t cut_bytes_ = 0;
  uint32_t largest_ = 0;  // the largest magnitude, as the bits of a float
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_STREAMED_NORM_H_
