// Every pass over vectors on the GPU against the device's own copy, as bytes moved per
// second, interleaved in one run so that drift hits all alike. A table in Markdown.
//
//   bazel run -c opt //bench:cuda_vector_passes [-- ROUNDS]

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/cuda_copy.h"
#include "kernels/cuda/cuda_codec.h"
#include "kernels/cuda/cuda_gpu.h"
#include "kernels/cuda/cuda_passes.h"
#include "kernels/device/device.h"
#include "kernels/passes/sketch.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "cuda_vector_passes: %s\n", CudaStatus(error, what).ToString().c_str());
  std::exit(1);
}

template <typename T>
std::shared_ptr<T> NewOnDevice(int64_t count) {
  void* memory = nullptr;
  Check(cudaMalloc(&memory, static_cast<size_t>(count) * sizeof(T)), "cudaMalloc");
  return {static_cast<T*>(memory), [](T* held) { cudaFree(held); }};
}

// Normal numbers, the same million over and over.
void FillWithNoise(uint64_t key, int64_t size, float* vector) {
  KeyedRandom random(/*seed=*/1, Purpose::kGradientNoise, key);
  std::vector<float> noise(static_cast<size_t>(std::min<int64_t>(size, 1'000'000)));
  for (float& value : noise) value = static_cast<float>(random.Normal());
  auto filled = static_cast<int64_t>(noise.size());
  Check(cudaMemcpy(vector, noise.data(), noise.size() * sizeof(float), cudaMemcpyDefault), "copy");
  while (filled < size) {
    const int64_t next = std::min(filled, size - filled);
    Check(cudaMemcpy(vector + filled, vector, static_cast<size_t>(next) * sizeof(float),
                     cudaMemcpyDefault),
          "copy");
    filled += next;
  }
}

struct Contender {
  std::string name;
  double bytes_per_element;
  std::function<cudaError_t()> begin;
  std::vector<double> seconds = {};
};

// Seconds for one of `repeats` in a row.
class Clock {
 public:
  explicit Clock(cudaStream_t stream) : stream_(stream) {
    Check(cudaEventCreate(&start_), "cudaEventCreate");
    Check(cudaEventCreate(&end_), "cudaEventCreate");
  }
  ~Clock() {
    cudaEventDestroy(start_);
    cudaEventDestroy(end_);
  }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  double Seconds(const Contender& contender, int repeats) {
    Check(cudaEventRecord(start_, stream_), "cudaEventRecord");
    for (int i = 0; i < repeats; ++i) Check(contender.begin(), contender.name.c_str());
    Check(cudaEventRecord(end_, stream_), "cudaEventRecord");
    Check(cudaEventSynchronize(end_), contender.name.c_str());
    float milliseconds = 0;
    Check(cudaEventElapsedTime(&milliseconds, start_, end_), "cudaEventElapsedTime");
    return 1e-3 * milliseconds / repeats;
  }

 private:
  const cudaStream_t stream_;
  cudaEvent_t start_ = nullptr, end_ = nullptr;
};

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// Bandwidth of `contender` as a ratio to that of `other`, round by round.
double MedianRatio(const Contender& contender, const Contender& other) {
  std::vector<double> ratios;
  for (size_t round = 0; round < other.seconds.size(); ++round) {
    ratios.push_back(contender.bytes_per_element / contender.seconds[round] /
                     (other.bytes_per_element / other.seconds[round]));
  }
  return Median(ratios);
}

// The first two are the copies.
void Report(const std::vector<Contender>& contenders, int64_t size) {
  std::printf("\n%lld elements\n\n", static_cast<long long>(size));
  std::printf("| pass | bytes/element | ms | GB/s | x cudaMemcpy | x copy kernel |\n");
  std::printf("|---|---|---|---|---|---|\n");
  for (const Contender& contender : contenders) {
    const double seconds = Median(contender.seconds);
    std::printf("| %s | %.3g | %.3f | %.0f | %.3f | %.3f |\n", contender.name.c_str(),
                contender.bytes_per_element, 1e3 * seconds,
                1e-9 * contender.bytes_per_element * static_cast<double>(size) / seconds,
                MedianRatio(contender, contenders[0]), MedianRatio(contender, contenders[1]));
  }
}

constexpr int kNeighbours = 4;
constexpr int kTensors = 160;
constexpr int kVectors = kNeighbours + 5;  // own, gradient, two of state and out beside them

// All memory of the passes over vectors of one size.
struct Memory {
  explicit Memory(int64_t elements) : size(elements) {
    for (int k = 0; k < kVectors; ++k) {
      vectors.push_back(NewOnDevice<float>(size));
      FillWithNoise(static_cast<uint64_t>(k), size, vectors.back().get());
    }
    ReplicaLayout layout;
    for (int t = 0; t < kTensors; ++t) layout.AddParameter("tensor", {size / kTensors});
    tensors = TensorSpans(layout.parameters);
    workspace = NewOnDevice<std::byte>(
        static_cast<int64_t>(std::max({CudaTensorNormsWorkspace(TotalChunks(tensors)),
                                       CudaSketchWorkspace(size), CudaTopKWorkspace(size)})));
    doubles = NewOnDevice<double>(std::max<int64_t>(kTensors, kSketchSize));
  }

  const int64_t size;
  std::vector<std::shared_ptr<float>> vectors;
  std::vector<TensorSpan> tensors;
  std::shared_ptr<std::byte> workspace;
  std::shared_ptr<double> doubles;
};

std::vector<Contender> Contenders(const Memory& memory, cudaStream_t stream) {
  const int64_t size = memory.size;
  float* const own = memory.vectors[0].get();
  float* const gradient = memory.vectors[kNeighbours + 1].get();
  float* const velocity = memory.vectors[kNeighbours + 2].get();
  float* const out = memory.vectors[kNeighbours + 3].get();
  std::vector<WeightedVector> mix;
  for (int k = 0; k <= kNeighbours; ++k) mix.push_back({0.2f, memory.vectors[k].get()});
  const SgdStep step{.own = own,
                     .gradient = gradient,
                     .velocity = velocity,
                     .learning_rate = 1e-6f,
                     .momentum = 0.5f};
  SgdStep decaying = step;
  decaying.weight_decay = 1e-4f;
  const AdamStep adam{.own = own,
                      .gradient = gradient,
                      .mean = velocity,
                      .square = memory.vectors[kNeighbours + 4].get(),
                      .learning_rate = 1e-6f};
  void* const workspace = memory.workspace.get();
  double* const doubles = memory.doubles.get();
  const auto terms = [mix](int count) {
    return std::vector<WeightedVector>(mix.begin(), mix.begin() + count);
  };
  const auto sum = [=](int count) {
    return [=, mix = terms(count)] { return CudaWeightedSum(mix, size, out, stream); };
  };
  const auto fused = [=](int neighbours, const SgdStep& rule) {
    return
        [=, mix = terms(neighbours + 1)] { return CudaMixAndStep(mix, rule, size, out, stream); };
  };
  const auto to_float16 = [=](Float16Format format) {
    return [=] {
      return CudaConvertToFloat16(format, gradient, size, reinterpret_cast<uint16_t*>(out), stream);
    };
  };
  const auto from_float16 = [=](Float16Format format) {
    return [=] {
      return CudaConvertFromFloat16(format, reinterpret_cast<const uint16_t*>(own), size, out,
                                    stream);
    };
  };
  const double int8 = 4 + static_cast<double>(Int8Bytes(size)) / static_cast<double>(size);
  const int64_t k = size / 100;
  return {
      {"cudaMemcpyAsync", 8,
       [=] {
         return cudaMemcpyAsync(out, own, static_cast<size_t>(size) * sizeof(float),
                                cudaMemcpyDeviceToDevice, stream);
       }},
      {"copy kernel", 8, [=] { return CudaCopy(own, size, out, stream); }},
      {"weighted sum of 1", 8, sum(1)},
      {"weighted sum of 3", 16, sum(3)},
      {"weighted sum of 5", 24, sum(5)},
      {"local momentum step", 20, fused(0, step)},
      {"mix + momentum, 2 neighbours", 28, fused(2, step)},
      // own is one of the mixed vectors: its second read is the cache's.
      {"mix + momentum + decay, 2 neighbours", 28, fused(2, decaying)},
      {"mix + momentum, 4 neighbours", 36, fused(4, step)},
      {"mix + Adam, 2 neighbours", 36,
       [=, mix = terms(3)] { return CudaMixAndStep(mix, adam, size, out, stream); }},
      {"norms of 160 tensors", 4,
       [=, tensors = memory.tensors] {
         return CudaTensorSquaredNorms(gradient, tensors, doubles, workspace, stream);
       }},
      {"sketch", 4,
       [=] { return CudaSketch(gradient, size, /*seed=*/1, doubles, workspace, stream); }},
      {"to fp16", 6, to_float16(Float16Format::kHalf)},
      {"from fp16", 6, from_float16(Float16Format::kHalf)},
      {"to bf16", 6, to_float16(Float16Format::kBrain)},
      {"from bf16", 6, from_float16(Float16Format::kBrain)},
      {"to int8", int8,
       [=] {
         return CudaQuantizeInt8(gradient, size, /*key=*/1, reinterpret_cast<std::byte*>(out),
                                 stream);
       }},
      {"from int8", int8,
       [=] {
         return CudaDequantizeInt8(reinterpret_cast<const std::byte*>(own), size, out, stream);
       }},
      {"top 1 % (five sweeps)", 20,
       [=] {
         return CudaTopK(gradient, size, k, reinterpret_cast<uint32_t*>(out), out + k, workspace,
                         stream);
       }},
  };
}

void Measure(int64_t size, int rounds) {
  size_t free_bytes = 0, all_bytes = 0;
  Check(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
  const double needed = 1.05 * kVectors * static_cast<double>(size) * sizeof(float);
  if (needed > static_cast<double>(free_bytes)) {
    std::printf("\n%lld elements: skipped, %.1f GB needed and %.1f GB free\n",
                static_cast<long long>(size), 1e-9 * needed,
                1e-9 * static_cast<double>(free_bytes));
    return;
  }
  const Memory memory(size);
  cudaStream_t stream = nullptr;
  Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  Check(cudaDeviceSynchronize(), "filling");
  {
    Clock clock(stream);
    std::vector<Contender> contenders = Contenders(memory, stream);
    // So many that a sample is milliseconds, beside which an event's error is nothing.
    const int repeats = static_cast<int>(std::max<int64_t>(1, 500'000'000 / size));
    std::vector<Contender*> order;
    for (Contender& contender : contenders) {
      clock.Seconds(contender, 1);  // loads the code
      order.push_back(&contender);
    }
    KeyedRandom random(/*seed=*/1, Purpose::kShuffle);
    for (int round = 0; round < rounds; ++round) {
      random.Shuffle(std::span(order));
      for (Contender* contender : order) {
        contender->seconds.push_back(clock.Seconds(*contender, repeats));
      }
    }
    Report(contenders, size);
  }
  Check(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

int Main(int rounds) {
  const absl::StatusOr<std::vector<GpuInfo>> devices = FindGpus();
  if (!devices.ok()) {
    std::fprintf(stderr, "cuda_vector_passes: %s\n",
                 std::string(devices.status().message()).c_str());
    return 1;
  }
  Check(cudaSetDevice(devices->front().index), "cudaSetDevice");
  std::printf("%s, median of %d interleaved rounds\n", devices->front().name.c_str(), rounds);
  for (const int64_t size : {int64_t{25'000'000}, int64_t{1'000'000'000}}) Measure(size, rounds);
  return 0;
}

}  // namespace
}  // namespace grapevine

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 21;
  if (rounds <= 0) {
    std::fprintf(stderr, "usage: cuda_vector_passes [ROUNDS], positive\n");
    return 2;
  }
  return grapevine::Main(rounds);
}
