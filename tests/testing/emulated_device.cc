#include "tests/testing/emulated_device.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/passes/sketch.h"
#include "kernels/vector/norms.h"
#include "kernels/vector/shared_vector.h"
#include "random/keyed_random.h"
#include "system/mutex.h"

namespace grapevine::testing {
namespace {

// One piece of a stream's work; one that is not ready holds up those behind it.
struct Work {
  std::function<bool()> ready;
  std::function<void()> run;
};

using WorkQueue = std::deque<Work>;

bool Always() { return true; }

}  // namespace

struct EmulatedDevice::State {
  explicit State(const EmulatedDeviceOptions& with)
      : options(with), memory_left(with.memory), pinned_left(with.pinned) {}

  // Runs one piece that is ready, if there is one.
  bool RunOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::vector<WorkQueue*> ready;
    for (WorkQueue* queue : queues) {
      if (!queue->empty() && queue->front().ready()) ready.push_back(queue);
    }
    if (ready.empty() || failed()) return false;
    ++done;
    const uint64_t draw = Mix(options.seed, Purpose::kShuffle, 0, 0, static_cast<uint64_t>(done));
    WorkQueue* const chosen = ready[draw % ready.size()];
    const Work work = std::move(chosen->front());
    chosen->pop_front();
    work.run();
    return true;
  }
  bool failed() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { return done >= options.work; }

  const EmulatedDeviceOptions options;
  mutable Mutex mutex;
  std::vector<WorkQueue*> queues ABSL_GUARDED_BY(mutex);
  int streams ABSL_GUARDED_BY(mutex) = 0;  // made so far
  std::map<std::pair<int, int>, int> waits ABSL_GUARDED_BY(mutex);
  int64_t done ABSL_GUARDED_BY(mutex) = 0;
  int64_t memory_left ABSL_GUARDED_BY(mutex);  // bytes
  int64_t pinned_left ABSL_GUARDED_BY(mutex);
  std::atomic<int64_t> uploaded = 0;
  std::atomic<int64_t> downloaded = 0;
};

namespace {

using State = EmulatedDevice::State;

class EmulatedEvent final : public DeviceEvent {
 public:
  EmulatedEvent(std::shared_ptr<State> state, int of_stream)
      : stream(of_stream), state_(std::move(state)) {}

  bool passed() override {
    MutexLock lock(state_->mutex);
    state_->RunOne();  // so that asking often enough is waiting
    return *passed_ || state_->failed();
  }

  absl::Status Wait(std::chrono::nanoseconds) override {
    MutexLock lock(state_->mutex);
    while (!*passed_) {
      if (state_->RunOne()) continue;
      if (state_->failed()) return absl::InternalError("the emulated device is lost");
      return absl::InternalError("streams wait for each other in a circle");
    }
    return absl::OkStatus();
  }

  std::chrono::nanoseconds Since(const DeviceEvent&) const override {
    return std::chrono::microseconds(1);
  }

  // Under the device's lock.
  const std::shared_ptr<bool>& flag() const { return passed_; }

  const int stream;

 private:
  const std::shared_ptr<State> state_;
  const std::shared_ptr<bool> passed_ = std::make_shared<bool>(false);
};

class EmulatedStream final : public DeviceStream {
 public:
  explicit EmulatedStream(std::shared_ptr<State> state) : state_(std::move(state)) {
    MutexLock lock(state_->mutex);
    state_->queues.push_back(&queue_);
    index_ = state_->streams++;
  }
  ~EmulatedStream() override {
    MutexLock lock(state_->mutex);
    std::erase(state_->queues, &queue_);
  }

  std::shared_ptr<DeviceEvent> Record() override {
    auto event = std::make_shared<EmulatedEvent>(state_, index_);
    Queue(Always, [flag = event->flag()] { *flag = true; });
    return event;
  }
  std::shared_ptr<DeviceEvent> RecordTimed() override { return Record(); }
  void WaitFor(const DeviceEvent& event) override {
    const auto& other = dynamic_cast<const EmulatedEvent&>(event);
    {
      MutexLock lock(state_->mutex);
      ++state_->waits[{index_, other.stream}];
    }
    Queue([flag = other.flag()] { return *flag; }, [] {});
  }
  void Upload(const void* host, int64_t bytes, void* device) override {
    Queue(Always, [=, this] {
      std::memcpy(device, host, static_cast<size_t>(bytes));
      state_->uploaded += bytes;
    });
  }
  void Download(const void* device, int64_t bytes, void* host) override {
    Queue(Always, [=, this] {
      std::memcpy(host, device, static_cast<size_t>(bytes));
      state_->downloaded += bytes;
    });
  }
  void WeightedSum(std::span<const WeightedVector> terms, int64_t size, float* out) override {
    Queue(Always, [kept = Keep(terms), size, out] { CpuPasses().WeightedSum(kept, size, out); });
  }
  void MixAndStep(std::span<const WeightedVector> mix, const StepPass& step, int64_t size,
                  float* out) override {
    Queue(Always,
          [kept = Keep(mix), step, size, out] { CpuPasses().MixAndStep(kept, step, size, out); });
  }
  void ClipNorm(float* vector, int64_t size, double limit, double* scratch) override {
    Queue(Always, [=] { CpuPasses().ClipNorm(vector, size, limit, scratch); });
  }
  int64_t SketchWorkspace(int64_t) const override { return 8; }
  void ComputeSketch(const float* vector, int64_t size, uint64_t seed, void*,
                     double* sketch) override {
    Queue(Always, [=] { std::ranges::copy(SketchOf(vector, size, seed), sketch); });
  }
  int64_t NormWorkspace(int64_t) const override { return 8; }
  void ComputeSquaredNorm(const float* vector, int64_t size, void*, double* norm) override {
    Queue(Always, [=] { *norm = SquaredNorm(vector, size); });
  }
  absl::Status status() const override { return absl::OkStatus(); }

 private:
  static std::vector<WeightedVector> Keep(std::span<const WeightedVector> terms) {
    return {terms.begin(), terms.end()};
  }
  void Queue(std::function<bool()> ready, std::function<void()> run) {
    MutexLock lock(state_->mutex);
    queue_.push_back({std::move(ready), std::move(run)});
  }

  const std::shared_ptr<State> state_;
  int index_ = 0;
  WorkQueue queue_;
};

// Filled with NaNs; taken from what is `left`.
absl::StatusOr<std::shared_ptr<void>> NewMemory(const std::shared_ptr<State>& state,
                                                int64_t State::*left, int64_t bytes,
                                                std::string_view what) {
  {
    MutexLock lock(state->mutex);
    if (bytes > (*state).*left) {
      return absl::ResourceExhaustedError(absl::StrCat("no memory for ", std::string(what)));
    }
    (*state).*left -= bytes;
  }
  const auto size = (bytes + 3) / 4;
  SharedVector vector = NewSharedVector(size);
  std::fill_n(vector.data.get(), size, std::numeric_limits<float>::quiet_NaN());
  void* const begin = vector.data.get();
  return std::shared_ptr<void>(begin, [=, memory = std::move(vector.data)](void*) mutable {
    memory.reset();
    MutexLock lock(state->mutex);
    (*state).*left += bytes;
  });
}

}  // namespace

EmulatedDevice::EmulatedDevice(const EmulatedDeviceOptions& options)
    : state_(std::make_shared<State>(options)) {}
EmulatedDevice::~EmulatedDevice() = default;

absl::StatusOr<std::shared_ptr<void>> EmulatedDevice::Allocate(int64_t bytes,
                                                               std::string_view what) {
  return NewMemory(state_, &State::memory_left, bytes, what);
}

absl::StatusOr<std::shared_ptr<void>> EmulatedDevice::AllocatePinned(int64_t bytes,
                                                                     std::string_view what) {
  return NewMemory(state_, &State::pinned_left, bytes, what);
}

absl::StatusOr<std::unique_ptr<DeviceStream>> EmulatedDevice::NewStream(StreamPriority) {
  return std::make_unique<EmulatedStream>(state_);
}

int EmulatedDevice::waits(int stream, int other) const {
  MutexLock lock(state_->mutex);
  return state_->waits[{stream, other}];
}

int64_t EmulatedDevice::uploaded() const { return state_->uploaded; }
int64_t EmulatedDevice::downloaded() const { return state_->downloaded; }

}  // namespace grapevine::testing
