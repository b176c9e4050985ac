// The data path of a node whose vectors live on a device.
//
//   mix stream       passes over vectors, in the order in which they are requested
//   down stream      outgoing messages: from the device to pinned host memory, chunk by
//                    chunk; a chunk is on the wire while the next one is copied
//   up stream        incoming messages: each run of bytes is copied as soon as it arrives
//   gradient stream  the stream of the objective
//
// Streams wait for each other where they touch the same part of a vector (StreamOrder); the
// runner's thread waits for a stream only where a vector is wanted in host memory. A vector is
// copied down once, however many neighbours it is sent to.
#ifndef GRAPEVINE_NODE_RUNNER_DEVICE_DATA_PATH_H_
#define GRAPEVINE_NODE_RUNNER_DEVICE_DATA_PATH_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/device/device.h"
#include "kernels/device/stream_order.h"
#include "node/runner/data_path.h"
#include "system/mutex.h"

namespace grapevine {

// A thread that waits for a device's events, one after the other, so that no other thread
// has to. Thread-safe.
class EventWatcher {
 public:
  // The most events that may be pending, more than the chunks of all messages of a node.
  static constexpr size_t kMaxEvents = size_t{1} << 20;

  // `on_failure` is called with the error of the first event that fails; then nothing is called.
  explicit EventWatcher(std::function<void(absl::Status why)> on_failure);
  // Forgets the events that have not passed.
  ~EventWatcher();

  // Calls `passed` on the watcher's thread when `event` and all before it have passed.
  void Watch(std::shared_ptr<DeviceEvent> event, std::function<void()> passed);

 private:
  struct Watched {
    std::shared_ptr<DeviceEvent> event;
    std::function<void()> passed;
  };

  void Loop();
  // Waits for work; false when the watcher stops.
  bool Next(Watched* watched);
  // Waits for the event; false when it failed or the watcher stops.
  bool Await(DeviceEvent& event);
  bool stopping();

  const std::function<void(absl::Status why)> on_failure_;
  Mutex mutex_;
  Condition changed_;
  std::deque<Watched> watched_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

struct DeviceDataPathOptions {
  // The device; outlives the path and the transport.
  Device* device = nullptr;
  // The stream on which the objective computes; outlives the path and the transport.
  DeviceStream* gradients = nullptr;
  // The longest that a copy of a vector to host memory may take.
  std::chrono::nanoseconds timeout = std::chrono::minutes(15);
  // Elements in one copy: 1 MiB takes some 20 us on a bus, and is one chunk on the wire.
  int64_t chunk = int64_t{1} << 18;
};

class DeviceDataPath final : public DataPath {
 public:
  // `on_failure` is called on another thread when the device fails.
  static absl::StatusOr<std::unique_ptr<DeviceDataPath>> Make(
      const DeviceDataPathOptions& options, OnPass on_pass,
      std::function<void(absl::Status why)> on_failure);

  // Waits until the streams have done all queued work, which still uses the memory.
  ~DeviceDataPath() override;

  VectorTable& vectors() override { return vectors_; }
  absl::Status Write(Vec vector, const std::function<absl::Status(float* memory)>& write) override;
  void Pass(std::span<const Part> reads, std::span<const Part> writes, int64_t bytes,
            const std::function<void()>& pass) override;
  void BeforeGradient(const SharedVector& at, Vec into) override;
  void OnceComputed(std::function<void()> computed) override;
  bool IsFinite(const SharedVector&) const override { return true; }
  absl::StatusOr<Outgoing> Send(const Payload& payload) override;
  absl::StatusOr<Incoming> Post(Rank from, Tag tag, const Payload& into) override;
  void Received(Rank from, Tag tag) override;
  void Lost(Rank from, Tag tag) override { arrivals_.erase({from, tag}); }
  absl::StatusOr<SharedVector> Read(const SharedVector& memory) override;
  absl::StatusOr<SharedVector> Copy(Vec vector) override { return Read(vectors_.At(vector)); }
  absl::StatusOr<Sketch> SketchOf(Vec vector, int64_t size, uint64_t seed) override;
  void Drop(Vec vector) override;
  absl::Status status() const override;

 private:
  struct Streams {
    std::unique_ptr<DeviceStream> mix, down, up;
  };
  // A part of a vector, and its copy in host memory, complete or in progress.
  struct Mirror {
    int64_t offset;
    int64_t size;
    Outgoing memory;
  };
  // A posted buffer on the device, and the pinned memory through which its message arrives.
  struct Arrival {
    SharedSlice buffer;
    SharedVector pinned;
  };
  struct TimedPass {
    std::chrono::steady_clock::time_point queued;
    int64_t bytes;
    std::shared_ptr<DeviceEvent> begin;
    std::shared_ptr<DeviceEvent> end;
  };
  struct Retired {
    std::shared_ptr<DeviceEvent> event;
    SharedVector pinned;
  };

  DeviceDataPath(const DeviceDataPathOptions& options, OnPass on_pass,
                 std::function<void(absl::Status why)> on_failure, Streams streams);

  SharedVector AllocateVector(int64_t size, std::string_view role);
  SharedVector AllocatePinned(int64_t size, std::string_view what);
  // Takes pinned memory; `what` says in error messages what the memory is for.
  absl::StatusOr<SharedVector> NewPinned(int64_t size, std::string_view what);
  // Returns where the parts lie in the memory of their vectors, which is allocated if need be.
  std::vector<MemoryRange> Ranges(std::span<const Part> parts) const;
  absl::StatusOr<Outgoing> SendPart(const Part& part);
  absl::StatusOr<Incoming> PostPart(Rank from, Tag tag, const Part& into);
  // Copies a slice down, chunk by chunk, raising the watermark of `to`.
  void CopyDown(const SharedSlice& from, const Outgoing& to);
  // Forgets the copies of a part that is about to be written.
  void Invalidate(const Part& part);
  void ReportPasses();
  void ReleaseRetired();

  const DeviceDataPathOptions options_;
  const OnPass on_pass_;
  const Streams streams_;
  absl::Status status_;  // the first error of an allocation
  VectorPool pinned_;
  VectorTable vectors_;
  StreamOrder order_;
  std::map<uint32_t, std::vector<Mirror>> mirrors_;  // by vector id
  std::map<std::pair<Rank, Tag>, Arrival> arrivals_;
  std::deque<TimedPass> passes_;  // not yet over when last checked
  std::deque<Retired> retired_;   // host memory that a copy may still read
  // Declared last, so that their threads end first. Two watchers, so that copies do not queue
  // behind gradients.
  EventWatcher gradient_watcher_;
  EventWatcher copy_watcher_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_DEVICE_DATA_PATH_H_
