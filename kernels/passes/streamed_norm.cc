#include "kernels/passes/streamed_norm.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace grapevine {
namespace {

struct AddSquares {
  GRAPEVINE_INLINE static void Run(const std::byte* bytes, int64_t position, int64_t count,
                                   double* out) {
    const auto square = [bytes](int64_t i) {
      float element;
      std::memcpy(&element, bytes + i * static_cast<int64_t>(sizeof(float)), sizeof(float));
      return Square(element);
    };
    alignas(64) double lanes[kSumLanes];
    std::copy_n(out, kSumLanes, lanes);
    int64_t i = 0;
    for (; i < count && (position + i) % kSumLanes != 0; ++i) {
      lanes[(position + i) % kSumLanes] += square(i);
    }
    for (; i + kSumLanes <= count; i += kSumLanes) {
      for (int64_t lane = 0; lane < kSumLanes; ++lane) lanes[lane] += square(i + lane);
    }
    for (; i < count; ++i) lanes[(position + i) % kSumLanes] += square(i);
    std::copy_n(lanes, kSumLanes, out);
  }
};

// The bits of magnitudes have the order of the magnitudes, with infinity and NaN above all others.
struct LargestMagnitude {
  GRAPEVINE_INLINE static void Run(const std::byte* bytes, int64_t count, uint32_t* largest) {
    constexpr uint32_t kMagnitude = 0x7fffffff;
    uint32_t most = *largest;
    for (int64_t i = 0; i < count; ++i) {
      uint32_t element;
      std::memcpy(&element, bytes + i * static_cast<int64_t>(sizeof(element)), sizeof(element));
      most = std::max(most, element & kMagnitude);
    }
    *largest = most;
  }
};

constexpr uint32_t kInfinityBits = 0x7f800000;

// Returns the number of lanes for `chunks` chunks, chosen as in SumOfChunks: empty lanes do not
// change the sum.
size_t LanesFor(int64_t chunks) {
  return std::bit_ceil(static_cast<size_t>(std::clamp<int64_t>(chunks, 1, kChunkLanes)));
}

}  // namespace

StreamedNorm::StreamedNorm(int64_t most_bytes, Wanted wanted, InstructionSet set)
    : wanted_(wanted), set_(set) {
  if (wanted == Wanted::kNorm) chunk_lanes_.resize(LanesFor(ChunksOf(most_bytes / kElement)));
}

void StreamedNorm::Add(const std::byte* bytes, int64_t size) {
  while (size > 0) {
    int64_t taken;
    if (cut_bytes_ > 0 || size < kElement) {
      taken = Complete(bytes, size);
    } else {
      const int64_t count = std::min(size / kElement, kSumChunk - position_);
      AddElements(bytes, count);
      taken = count * kElement;
    }
    bytes += taken;
    size -= taken;
  }
}

int64_t StreamedNorm::Complete(const std::byte* bytes, int64_t size) {
  const int64_t taken = std::min(size, kElement - cut_bytes_);
  std::copy_n(bytes, taken, cut_.begin() + cut_bytes_);
  cut_bytes_ += taken;
  if (cut_bytes_ == kElement) {
    AddElements(cut_.data(), 1);
    cut_bytes_ = 0;
  }
  return taken;
}

void StreamedNorm::AddElements(const std::byte* bytes, int64_t count) {
  if (wanted_ == Wanted::kFiniteness) {
    return RunKernel<LargestMagnitude>(set_, bytes, count, &largest_);
  }
  RunKernel<AddSquares>(set_, bytes, position_, count, lanes_.data());
  position_ += count;
  if (position_ < kSumChunk) return;
  chunk_lanes_[static_cast<size_t>(chunks_ % kChunkLanes)] += HalveLanes(kSumLanes, lanes_.data());
  lanes_ = {};
  position_ = 0;
  ++chunks_;
}

double StreamedNorm::squared() const {
  if (wanted_ == Wanted::kFiniteness) {
    return largest_ < kInfinityBits ? 0 : std::numeric_limits<double>::infinity();
  }
  auto lanes = lanes_;
  auto chunk_lanes = chunk_lanes_;
  if (position_ > 0) {
    chunk_lanes[static_cast<size_t>(chunks_ % kChunkLanes)] += HalveLanes(kSumLanes, lanes.data());
  }
  return HalveLanes(static_cast<int64_t>(chunk_lanes.size()), chunk_lanes.data());
}

}  // namespace grapevine
