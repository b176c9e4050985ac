// A portable random generator, keyed by the purpose of its numbers.
//
// Every draw in Grapevine is a pure function of (seed, purpose, node, round): two nodes that
// need the same random matching derive it without communicating, and the same seed gives the
// same run in the simulator, in memory and over gRPC. The distributions are implemented here, down
// to the logarithm (portable_math.h), because those of the standard library differ from one
// implementation to another.
//
// Thread-safety: distinct objects are independent; threads must not share an object.
#ifndef GRAPEVINE_RANDOM_KEYED_RANDOM_H_
#define GRAPEVINE_RANDOM_KEYED_RANDOM_H_

#include <cstdint>
#include <span>
#include <utility>

namespace grapevine {

// The use of a stream of random numbers. Each use has a stream of its own.
enum class Purpose : uint64_t {
  kTopology = 1,
  kMatching = 2,
  kInitialization = 3,
  kSyntheticData = 4,
  kSplit = 5,
  kShuffle = 6,
  kAugmentation = 7,
  kGradientNoise = 8,
  kSketch = 9,
  kRunId = 10,
  kSpectrum = 11,
  kComputeTime = 12,
  kStraggler = 13,
  kMessageEffect = 14,
  kRouting = 15,
  kPlacement = 16,
  kOptimum = 17,
  kQuantization = 18,
  kPartner = 19,
  kChaos = 20,
  kStart = 21,
  kGraphSearch = 22,
  kTestSample = 23,
};

// The stateless form of the generator, for one draw per element. It is constexpr so that device
// code can use it. A word is SplitMix64's finalizer over a chained key.
namespace keyed_random_internal {

inline constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;

constexpr uint64_t Finalize(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

constexpr uint64_t Chain(uint64_t key, uint64_t word) { return Finalize((key ^ word) + kGolden); }

}  // namespace keyed_random_internal

// Returns the key that all draws for a purpose, refined by `a` and `b`, share.
constexpr uint64_t MixKey(uint64_t seed, Purpose purpose, uint64_t a, uint64_t b) {
  using keyed_random_internal::Chain;
  const uint64_t start = keyed_random_internal::Finalize(seed + keyed_random_internal::kGolden);
  return Chain(Chain(Chain(start, static_cast<uint64_t>(purpose)), a), b);
}

// Returns draw number `counter` of a key: one well-mixed 64-bit word.
constexpr uint64_t MixAt(uint64_t key, uint64_t counter) {
  return keyed_random_internal::Finalize(key + (counter + 1) * keyed_random_internal::kGolden);
}

constexpr uint64_t Mix(uint64_t seed, Purpose purpose, uint64_t a, uint64_t b, uint64_t counter) {
  return MixAt(MixKey(seed, purpose, a, b), counter);
}

class KeyedRandom {
 public:
  // `a` and `b` refine the purpose; usually node and round.
  KeyedRandom(uint64_t seed, Purpose purpose, uint64_t a = 0, uint64_t b = 0);

  uint64_t Next();
  // Draws uniformly from [0, n), without bias (Lemire 2019). n > 0.
  uint64_t Below(uint64_t n);
  // Draws uniformly from [0, 1), with 53 bits.
  double Unit();
  // Draws from the standard normal distribution (Marsaglia's polar method).
  double Normal();
  // Draws from Gamma(shape, 1) (Marsaglia and Tsang 2000). shape > 0.
  double Gamma(double shape);

  template <typename T>
  void Shuffle(std::span<T> values) {
    for (uint64_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[Below(i)]);
  }

 private:
  uint64_t key_;
  uint64_t counter_ = 0;
  bool has_spare_ = false;
  double spare_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_RANDOM_KEYED_RANDOM_H_
