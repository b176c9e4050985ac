// The squared Euclidean norm of a vector whose bytes come in pieces, as from a network: looked at
// while they are in cache, wherever the pieces are cut.
//
// The sum has the order of ordered_sum.h, so its bits are those of SquaredNorm
// (kernels/vector/norms.h) over the whole. It is finite if and only if every element is: a
// double holds the sum of the squares of any floats. Where nothing else is asked, that alone is
// looked at, which takes a fraction of the time.
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

  // Of a vector of at most so many bytes, for which it keeps 8 bytes in 16 KiB, up to 8 KiB; for
  // its finiteness alone, nothing.
  explicit StreamedNorm(int64_t most_bytes, Wanted wanted = Wanted::kNorm,
                        InstructionSet set = BestInstructionSet());

  // The vector's next bytes; an element may be cut.
  void Add(const std::byte* bytes, int64_t size);

  // Of the elements that are whole.
  double squared() const;

 private:
  static constexpr int64_t kElement = sizeof(float);

  // Fills the element that is cut; returns how many bytes it took.
  int64_t Complete(const std::byte* bytes, int64_t size);
  // So many elements, of which the last is at most a chunk's.
  void AddElements(const std::byte* bytes, int64_t count);

  const Wanted wanted_;
  const InstructionSet set_;
  alignas(64) std::array<double, kSumLanes> lanes_ = {};  // of the chunk under way
  std::vector<double> chunk_lanes_;                       // of the chunks before
  int64_t chunks_ = 0;
  int64_t position_ = 0;  // in the chunk under way
  std::array<std::byte, kElement> cut_ = {};
  int64_t cut_bytes_ = 0;
  uint32_t largest_ = 0;  // magnitude, as the bits of a float
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_STREAMED_NORM_H_
