// The fused passes (two neighbours; momentum SGD with weight decay, Adam, and the others) against
// the machine's plain in-place average of three vectors, as bytes moved per second
// on one thread, interleaved in one run so that drift hits all alike.
//
//   bazel run -c opt //bench:mix_bench [-- ELEMENTS [ROUNDS]]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/passes/instruction_set.h"
#include "kernels/passes/mix_and_step.h"
#include "kernels/vector/layerwise_step.h"
#include "kernels/vector/replica_layout.h"
#include "kernels/vector/shared_vector.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

struct PlainAverage {
  GRAPEVINE_INLINE static void Run(float* __restrict a, const float* __restrict b,
                                   const float* __restrict c, int64_t size) {
    for (int64_t i = 0; i < size; ++i) a[i] = (a[i] + b[i] + c[i]) * (1.0f / 3);
  }
};

struct Contender {
  std::string name;
  double bytes_per_element;
  std::function<void()> run;
  std::vector<double> seconds = {};
};

double Seconds(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// Bandwidth of `contender` as a ratio to that of `plain`, round by round.
double MedianRatio(const Contender& contender, const Contender& plain) {
  std::vector<double> ratios;
  for (size_t round = 0; round < plain.seconds.size(); ++round) {
    ratios.push_back(contender.bytes_per_element / contender.seconds[round] /
                     (plain.bytes_per_element / plain.seconds[round]));
  }
  return Median(ratios);
}

void Report(const std::vector<Contender>& contenders, int64_t size) {
  for (const Contender& contender : contenders) {
    const double seconds = Median(contender.seconds);
    const double bytes = contender.bytes_per_element * static_cast<double>(size);
    std::printf("%-44s %4.0f B/element %8.2f ms %7.2f GB/s  x %.3f\n", contender.name.c_str(),
                contender.bytes_per_element, 1e3 * seconds, 1e-9 * bytes / seconds,
                MedianRatio(contender, contenders[0]));
  }
}

void Main(int64_t size, int rounds) {
  constexpr int kNeighbours = 8;
  constexpr int kTensors = 50;
  std::vector<SharedVector> vectors;
  for (int k = 0; k < kNeighbours + 5; ++k) {
    vectors.push_back(NewSharedVector(size));
    std::fill_n(vectors.back().data.get(), size, 1.0f + static_cast<float>(k));
  }
  float* own = vectors[0].data.get();
  float* out = vectors[1].data.get();
  float* velocity = vectors[2].data.get();
  const float* gradient = vectors[3].data.get();
  std::vector<WeightedVector> mix = {{1.0f / 3, own}};
  for (int k = 0; k < kNeighbours; ++k) mix.push_back({1.0f / 3, vectors[4 + k].data.get()});
  SgdStep step = {.own = own,
                  .gradient = gradient,
                  .velocity = velocity,
                  .learning_rate = 1e-6f,
                  .weight_decay = 1e-4f,
                  .momentum = 0.5f};
  AdamStep adam = {.own = own,
                   .gradient = gradient,
                   .mean = velocity,
                   .square = vectors[kNeighbours + 4].data.get(),
                   .adam = AdamCoefficientsAt(0, 0.9, 0.999, 1e-8),
                   .learning_rate = 1e-6f};
  AdamStep adamw = adam;
  adamw.adam.decay = Decay::kUpdate;
  adamw.adam.weight_decay = 1e-4f;
  const AdagradStep adagrad = {.gradient = gradient, .sum = adam.square, .learning_rate = 1e-6f};
  ReplicaLayout layout;
  for (int t = 0; t < kTensors; ++t) layout.AddParameter("tensor", {size / kTensors, 1});
  const Layerwise<LarsStep> lars = {.step = {.own = own,
                                             .gradient = gradient,
                                             .velocity = velocity,
                                             .momentum = 0.5f,
                                             .rates = {.learning_rate = 1e-3}},
                                    .tensors = LayerwiseTensorsOf(layout)};
  const Layerwise<LambStep> lamb = {.step = {.own = own,
                                             .gradient = gradient,
                                             .mean = adam.mean,
                                             .square = adam.square,
                                             .adam = adamw.adam,
                                             .learning_rate = 1e-6},
                                    .tensors = lars.tensors};
  const InstructionSet best = BestInstructionSet();
  const auto mixed = [&](const auto& rule, float* to) {
    return [=, &mix, &rule] { MixAndStep(std::span(mix).first(3), rule, size, to, best); };
  };
  const auto fused = [&](int neighbours, InstructionSet set, float* to) {
    return [=, &mix, &step] {
      MixAndStep(std::span(mix).first(static_cast<size_t>(neighbours) + 1), step, size, to, set);
    };
  };
  std::vector<Contender> contenders = {
      {"plain in-place average of 3", 16,
       [&] {
         RunKernel<PlainAverage>(best, static_cast<float*>(velocity), gradient,
                                 static_cast<const float*>(vectors[4].data.get()), size);
       }},
      {"fused mix + momentum, 2 neighbours", 28, fused(2, best, out)},
      {"fused mix + momentum, 2 neighbours, AVX2", 28,
       fused(2, std::min(best, InstructionSet::kAvx2), out)},
      {"fused mix + momentum, 2 neighbours, baseline", 28,
       fused(2, InstructionSet::kBaseline, out)},
      {"fused mix + momentum, 2 neighbours, in place", 28, fused(2, best, own)},
      {"fused mix + momentum, 8 neighbours", 52, fused(8, best, out)},
      {"local momentum step", 20, fused(0, best, out)},
      {"fused mix + Adam, 2 neighbours", 36, mixed(adam, out)},
      {"fused mix + Adam, 2 neighbours, in place", 36, mixed(adam, own)},
      {"fused mix + AdamW, 2 neighbours", 36, mixed(adamw, out)},
      {"fused mix + Adagrad, 2 neighbours", 28, mixed(adagrad, out)},
      {"norms, then mix + LARS, 2 neighbours", 36, mixed(lars, out)},
      {"norms, then mix + LAMB, 2 neighbours", 52, mixed(lamb, out)},
      {"weighted sum of 3", 16, [&] { WeightedSum(std::span(mix).first(3), size, out); }},
  };
  for (Contender& contender : contenders) contender.run();  // faults the pages in
  // In random order: what a pass leaves dirty in the cache, the next one pays for.
  KeyedRandom random(/*seed=*/1, Purpose::kShuffle);
  std::vector<Contender*> order;
  for (Contender& contender : contenders) order.push_back(&contender);
  for (int round = 0; round < rounds; ++round) {
    random.Shuffle(std::span(order));
    for (Contender* contender : order) contender->seconds.push_back(Seconds(contender->run));
  }
  Report(contenders, size);
}

}  // namespace
}  // namespace grapevine

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 25'000'000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
  if (size <= 0 || rounds <= 0) {
    std::fprintf(stderr, "usage: mix_bench [ELEMENTS [ROUNDS]], both positive\n");
    return 2;
  }
  grapevine::Main(size, rounds);
}
