// Training steps per second against PyTorch.
//
//   bazel build -c opt //bench:training_bench
//   taskset -c 0 bazel-bin/bench/training_bench [NETWORK…]
//   bazel-bin/bench/training_bench --device=cuda --precision=bf16 --batch=256 --image=224 resnet50
//
// On a GPU the floor is printed too: the step's products by cuDNN and cuBLASLt, each timed
// alone. --recorded=no queues every step call by call.
//
// On the CPU: one thread at batch 32. A step is forward, backward and momentum SGD.
// Ours and the peer (bench/peers/torch_training.py, Debian's python3-torch with
// libopenblas0-openmp) take turns on the same core or GPU; the ratio is that of the
// medians. Run it from the root of the source tree. $PYTHON names another interpreter.
#include <glog/logging.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "bench/peers/peer_process.h"
#include "kernels/device/device.h"
#include "kernels/passes/denormals.h"
#include "kernels/tensor/tensor_device.h"
#include "kernels/vector/shared_vector.h"
#include "kernels/vector/vector_table.h"
#include "model/data/batch.h"
#include "model/networks/network_kind.h"
#include "optim/optimizer.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

constexpr int64_t kClasses = 10;
constexpr int kTurns = 15;
constexpr double kTurnSeconds = 0.25;
constexpr auto kTimeout = std::chrono::minutes(1);  // of one wait for a GPU

struct Setup {
  bool gpu = false;
  std::string precision = "fp32";
  int64_t batch = 32;
  int64_t image = 64;    // of ResNet-50
  bool recorded = true;  // steps, on a GPU
};

ImageShape InputOf(const std::string& name, const Setup& setup) {
  if (name == "resnet50") return {setup.image, setup.image, 3};
  return name.starts_with("resnet") ? ImageShape{32, 32, 3} : ImageShape{28, 28, 1};
}

template <typename T>
T Take(absl::StatusOr<T> made) {
  CHECK(made.ok()) << made.status();
  return *std::move(made);
}

// Where the steps run: vectors, passes over them and networks.
class TrainingDevice {
 public:
  explicit TrainingDevice(const Setup& setup)
      : precision_(PrecisionNamed(setup.precision).value()) {
    if (!setup.gpu) return;
    device_ = Take(OpenGpu(0));
    batches_ = std::make_unique<PinnedBatchMemory>(device_.get());
    stream_ = Take(device_->NewStream());
    vectors_ = std::make_unique<VectorTable>(stream_.get(), [this](int64_t size, std::string_view) {
      auto memory = Take(device_->Allocate(size * int64_t{sizeof(float)}, "a vector"));
      float* const data = static_cast<float*>(memory.get());
      return SharedVector{std::shared_ptr<float[]>(std::move(memory), data), size};
    });
  }

  VectorTable& vectors() { return *vectors_; }
  std::unique_ptr<TensorDevice> NewTensorDevice() {
    return device_ ? Take(MakeGpuTensorDevice(*device_, *stream_, precision_, kTimeout)) : nullptr;
  }
  // With the elements of `host`.
  Vec NewVector(const std::vector<float>& host) {
    const auto size = static_cast<int64_t>(host.size());
    const Vec vector = vectors_->New(size, "a vector");
    float* const data = vectors_->At(vector).data.get();
    if (device_) {
      stream_->Upload(host.data(), size * int64_t{sizeof(float)}, data);
      Wait();
    } else {
      std::ranges::copy(host, data);
    }
    return vector;
  }
  // Null: ordinary memory.
  BatchMemory* batches() const { return batches_.get(); }
  void Wait() {
    if (!device_) return;
    const absl::Status done = stream_->Finish(kTimeout);
    CHECK(done.ok()) << done;
  }

 private:
  const Precision precision_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<DeviceStream> stream_;
  std::unique_ptr<VectorTable> vectors_ = std::make_unique<VectorTable>();
  std::unique_ptr<BatchMemory> batches_;
};

// Any numbers will do: the time does not depend on them.
Batch RandomBatch(const ImageShape& image, int64_t size, BatchMemory* memory) {
  KeyedRandom random(1, Purpose::kSyntheticData);
  Batch batch{.size = size, .images = BatchVector(BatchAllocator<float>(memory))};
  for (int64_t i = 0; i < size * image.size(); ++i) {
    batch.images.push_back(static_cast<float>(random.Normal()));
  }
  for (int64_t i = 0; i < size; ++i) {
    batch.labels.push_back(static_cast<int32_t>(random.Below(kClasses)));
  }
  return batch;
}

class Trainer {
 public:
  Trainer(const std::string& name, const Setup& setup)
      : device_(setup),
        batch_(RandomBatch(InputOf(name, setup), setup.batch, device_.batches())),
        network_(NewNetwork(name, setup)),
        optimizer_(Take(MakeOptimizer("sgd", {.momentum = 0.9}))) {
    const ReplicaLayout& layout = network_->layout();
    std::vector<float> start(static_cast<size_t>(layout.size));
    network_->Initialize(1, start.data());
    replica_ = device_.NewVector(start);
    gradient_ = device_.NewVector(std::vector<float>(start.size()));
    state_ = device_.NewVector(std::vector<float>(
        static_cast<size_t>(layout.parameter_size * optimizer_->state_vectors())));
  }

  // For a step's products by cuDNN and cuBLASLt, each alone; 0 on the CPU.
  double product_seconds() const {
    return tensor_device_ == nullptr ? 0 : tensor_device_->product_seconds();
  }

  // Seconds for so many steps.
  double Run(int64_t steps) {
    const auto start = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < steps; ++i) Step();
    device_.Wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  std::unique_ptr<Network> NewNetwork(const std::string& name, const Setup& setup) {
    std::unique_ptr<TensorDevice> device = device_.NewTensorDevice();
    tensor_device_ = device.get();
    return Take(MakeNetwork(name, InputOf(name, setup), kClasses, {.record_steps = setup.recorded},
                            std::move(device)));
  }
  void Step() {
    VectorTable& vectors = device_.vectors();
    Take(network_->Gradient(vectors.At(replica_).data.get(), batch_,
                            vectors.At(gradient_).data.get()));
    const Term self{1.0, vectors.Whole(replica_)};
    const FlushDenormals flush_denormals;
    optimizer_->Step(network_->layout(),
                     {.range = {0, self.part.size},
                      .out = replica_,
                      .mix = {&self, 1},
                      .own = replica_,
                      .gradient = gradient_,
                      .state = state_,
                      .learning_rate = 0.01},
                     vectors);
  }

  TrainingDevice device_;
  const Batch batch_;
  const TensorDevice* tensor_device_ = nullptr;  // the network's; null: the CPU
  const std::unique_ptr<Network> network_;
  const std::unique_ptr<Optimizer> optimizer_;
  Vec replica_;
  Vec gradient_;
  Vec state_;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Compare(const std::string& name, const Setup& setup, PeerProcess* peer) {
  Trainer ours(name, setup);
  ours.Run(5);
  const auto steps = std::max<int64_t>(1, std::llround(kTurnSeconds / (ours.Run(5) / 5)));
  const std::string request = absl::StrCat(name, " ", steps);
  bool has_peer = peer->Ask(absl::StrCat(name, " 5")).has_value();
  std::vector<double> own_rates;
  std::vector<double> peer_rates;
  for (int turn = 0; turn < kTurns; ++turn) {
    const double samples = static_cast<double>(steps * setup.batch);
    own_rates.push_back(samples / ours.Run(steps));
    const std::optional<double> seconds = has_peer ? peer->Ask(request) : std::nullopt;
    has_peer = seconds.has_value();
    if (has_peer) peer_rates.push_back(samples / *seconds);
  }
  const double own = Median(own_rates);
  std::printf("%-10s %9.0f samples/s", name.c_str(), own);
  if (has_peer) {
    const double theirs = Median(peer_rates);
    std::printf(", PyTorch %9.0f, ratio %.2f", theirs, own / theirs);
  } else {
    std::printf("; PyTorch does not run here");
  }
  if (const double seconds = ours.product_seconds(); seconds > 0) {
    const double alone = static_cast<double>(setup.batch) / seconds;
    std::printf("; cuDNN's and cuBLASLt's calls alone %.0f, ratio %.2f", alone, own / alone);
  }
  std::printf("\n");
  std::fflush(stdout);
}

int Main(const Setup& setup, const std::vector<std::string>& names) {
  signal(SIGPIPE, SIG_IGN);
  setenv("OMP_NUM_THREADS", "1", 1);
  const char* python = getenv("PYTHON");
  PeerProcess peer({python != nullptr ? python : "/usr/bin/python3",
                    "bench/peers/torch_training.py", setup.gpu ? "cuda" : "cpu", setup.precision,
                    std::to_string(setup.batch), std::to_string(setup.image)});
  if (const auto gpus = FindGpus(); setup.gpu && !gpus.ok()) {
    std::fprintf(stderr, "training_bench: %s\n", std::string(gpus.status().message()).c_str());
    return 1;
  }
  for (const std::string& name : names) Compare(name, setup, &peer);
  return 0;
}

// False for an unknown flag.
bool Set(const std::string& flag, Setup* setup) {
  const size_t equals = flag.find('=');
  const std::string name = flag.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : flag.substr(equals + 1);
  if (name == "--device") {
    setup->gpu = value == "cuda";
    return setup->gpu || value == "cpu";
  }
  if (name == "--precision") {
    setup->precision = value;
    return PrecisionNamed(value).has_value();
  }
  if (name == "--recorded") {
    setup->recorded = value == "yes";
    return setup->recorded || value == "no";
  }
  if (name == "--batch") return absl::SimpleAtoi(value, &setup->batch) && setup->batch > 0;
  return name == "--image" && absl::SimpleAtoi(value, &setup->image) && setup->image >= 32;
}

}  // namespace
}  // namespace grapevine

int main(int argc, char** argv) {
  grapevine::Setup setup;
  std::vector<std::string> names;
  for (const char* argument : std::span(argv + 1, argv + argc)) {
    if (*argument != '-') {
      names.push_back(argument);
    } else if (!grapevine::Set(argument, &setup)) {
      std::fprintf(stderr, "training_bench: %s is not a known flag with a value\n", argument);
      return 2;
    }
  }
  if (names.empty()) names = {"softmax", "mlp", "lenet5", "resnet20"};
  return grapevine::Main(setup, names);
}
