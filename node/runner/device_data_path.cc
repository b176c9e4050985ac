#include "node/runner/device_data_path.h"

#include <glog/logging.h>

#include <algorithm>
#include <cstring>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kElement = sizeof(float);
// Work queued at the end takes milliseconds, unless the device hangs.
constexpr auto kLinger = std::chrono::seconds(10);
// How long a wait goes on without checking whether the watcher stops.
constexpr auto kPatience = std::chrono::milliseconds(200);
constexpr auto kIdleWait = std::chrono::seconds(1);

SharedVector AsVector(std::shared_ptr<void> memory, int64_t size) {
  float* const data = static_cast<float*>(memory.get());
  return {std::shared_ptr<float[]>(std::move(memory), data), size};
}

MemoryRange RangeOf(const SharedSlice& slice) {
  return {slice.owner.get(), slice.offset, slice.offset + slice.size};
}

MemoryRange RangeOf(const SharedVector& whole) { return {whole.data.get(), 0, whole.size}; }

}  // namespace

EventWatcher::EventWatcher(std::function<void(absl::Status why)> on_failure)
    : on_failure_(std::move(on_failure)) {
  thread_ = std::thread([this] { Loop(); });
}

EventWatcher::~EventWatcher() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void EventWatcher::Watch(std::shared_ptr<DeviceEvent> event, std::function<void()> passed) {
  {
    MutexLock lock(mutex_);
    CHECK_LT(watched_.size(), kMaxEvents) << "nobody waits for the device any more";
    watched_.push_back({std::move(event), std::move(passed)});
  }
  changed_.NotifyAll();
}

bool EventWatcher::stopping() {
  MutexLock lock(mutex_);
  return stopping_;
}

bool EventWatcher::Next(Watched* watched) {
  MutexLock lock(mutex_);
  while (watched_.empty() && !stopping_) {
    changed_.WaitUntil(mutex_, Clock::now() + kIdleWait);
  }
  if (stopping_) return false;
  *watched = std::move(watched_.front());
  watched_.pop_front();
  return true;
}

bool EventWatcher::Await(DeviceEvent& event) {
  while (true) {
    absl::Status status = event.Wait(kPatience);
    if (stopping()) return false;
    if (absl::IsDeadlineExceeded(status)) continue;
    if (status.ok()) return true;
    on_failure_(std::move(status));
    return false;
  }
}

void EventWatcher::Loop() {
  Watched watched;
  while (Next(&watched)) {
    if (!Await(*watched.event)) return;
    watched.passed();
    watched = {};
  }
}

absl::StatusOr<std::unique_ptr<DeviceDataPath>> DeviceDataPath::Make(
    const DeviceDataPathOptions& options, OnPass on_pass,
    std::function<void(absl::Status why)> on_failure) {
  Streams streams;
  for (std::unique_ptr<DeviceStream>* stream : {&streams.mix, &streams.down, &streams.up}) {
    ASSIGN_OR_RETURN(*stream, options.device->NewStream(StreamPriority::kHigh));
  }
  return std::unique_ptr<DeviceDataPath>(
      new DeviceDataPath(options, std::move(on_pass), std::move(on_failure), std::move(streams)));
}

DeviceDataPath::DeviceDataPath(const DeviceDataPathOptions& options, OnPass on_pass,
                               std::function<void(absl::Status why)> on_failure, Streams streams)
    : options_(options),
      on_pass_(std::move(on_pass)),
      streams_(std::move(streams)),
      pinned_([this](int64_t size, std::string_view what) { return AllocatePinned(size, what); }),
      vectors_(streams_.mix.get(),
               [this](int64_t size, std::string_view role) { return AllocateVector(size, role); }),
      gradient_watcher_(on_failure),
      copy_watcher_(std::move(on_failure)) {}

DeviceDataPath::~DeviceDataPath() {
  for (DeviceStream* stream : {streams_.mix.get(), streams_.down.get(), streams_.up.get()}) {
    const absl::Status status = stream->Finish(kLinger);
    if (!status.ok()) LOG(ERROR) << options_.device->name() << ": " << status.message();
  }
}

SharedVector DeviceDataPath::AllocateVector(int64_t size, std::string_view role) {
  absl::StatusOr<std::shared_ptr<void>> memory = options_.device->Allocate(
      size * kElement, absl::StrCat(std::string(role), " (a vector of ", size, " elements)"));
  status_.Update(memory.status());
  return memory.ok() ? AsVector(*std::move(memory), size) : SharedVector{};
}

SharedVector DeviceDataPath::AllocatePinned(int64_t size, std::string_view what) {
  absl::StatusOr<std::shared_ptr<void>> memory = options_.device->AllocatePinned(
      size * kElement, absl::StrCat(std::string(what), " in host memory"));
  status_.Update(memory.status());
  return memory.ok() ? AsVector(*std::move(memory), size) : SharedVector{};
}

absl::StatusOr<SharedVector> DeviceDataPath::NewPinned(int64_t size, std::string_view what) {
  SharedVector memory = pinned_.Take(size, what);
  if (memory.data == nullptr) return status_;
  return memory;
}

std::vector<MemoryRange> DeviceDataPath::Ranges(std::span<const Part> parts) const {
  std::vector<MemoryRange> ranges;
  ranges.reserve(parts.size());
  for (const Part& part : parts) ranges.push_back(RangeOf(vectors_.Slice(part)));
  return ranges;
}

void DeviceDataPath::Invalidate(const Part& part) {
  const auto mirrors = mirrors_.find(part.vector.id);
  if (mirrors == mirrors_.end()) return;
  std::erase_if(mirrors->second, [&](const Mirror& mirror) {
    return mirror.offset < part.offset + part.size && part.offset < mirror.offset + mirror.size;
  });
}

absl::Status DeviceDataPath::Write(Vec vector,
                                   const std::function<absl::Status(float* memory)>& write) {
  const SharedVector& memory = vectors_.At(vector);
  absl::StatusOr<SharedVector> pinned = NewPinned(memory.size, vectors_.role(vector));
  RETURN_IF_ERROR(status_);
  RETURN_IF_ERROR(write(pinned->data.get()));
  const MemoryRange written[] = {RangeOf(memory)};
  Invalidate(vectors_.Whole(vector));
  order_.Before(*streams_.up, {}, written);
  streams_.up->Upload(pinned->data.get(), memory.size * kElement, memory.data.get());
  retired_.push_back({order_.After(*streams_.up, {}, written), *std::move(pinned)});
  return absl::OkStatus();
}

void DeviceDataPath::Pass(std::span<const Part> reads, std::span<const Part> writes, int64_t bytes,
                          const std::function<void()>& pass) {
  const std::vector<MemoryRange> read = Ranges(reads), written = Ranges(writes);
  if (!status_.ok()) return;
  for (const Part& part : writes) Invalidate(part);
  order_.Before(*streams_.mix, read, written);
  TimedPass timed{Clock::now(), bytes, streams_.mix->RecordTimed(), nullptr};
  pass();
  timed.end = streams_.mix->RecordTimed();
  order_.After(*streams_.mix, read, written);
  passes_.push_back(std::move(timed));
  ReportPasses();
  ReleaseRetired();
}

// Reports a pass as beginning when it was queued: it may have waited for messages, but the time it
// took is the device's.
void DeviceDataPath::ReportPasses() {
  while (!passes_.empty() && passes_.front().end->passed()) {
    const TimedPass& pass = passes_.front();
    on_pass_(pass.queued, pass.queued + pass.end->Since(*pass.begin), pass.bytes);
    passes_.pop_front();
  }
}

void DeviceDataPath::ReleaseRetired() {
  while (!retired_.empty() && retired_.front().event->passed()) retired_.pop_front();
}

void DeviceDataPath::BeforeGradient(const SharedVector& at, Vec into) {
  const MemoryRange read[] = {RangeOf(at)}, written[] = {RangeOf(vectors_.At(into))};
  if (!status_.ok()) return;
  Invalidate(vectors_.Whole(into));
  // No stream needs to wait for the gradient in turn: it is over when the runner hears of it.
  order_.Before(*options_.gradients, read, written);
}

void DeviceDataPath::OnceComputed(std::function<void()> computed) {
  gradient_watcher_.Watch(options_.gradients->Record(), std::move(computed));
}

absl::StatusOr<Outgoing> DeviceDataPath::Send(const Payload& payload) {
  return std::visit([this](const Part& part) { return SendPart(part); }, payload);
}

absl::StatusOr<Outgoing> DeviceDataPath::SendPart(const Part& part) {
  const SharedSlice from = vectors_.Slice(part);
  RETURN_IF_ERROR(status_);
  std::vector<Mirror>& mirrors = mirrors_[part.vector.id];
  for (const Mirror& mirror : mirrors) {
    if (mirror.offset == part.offset && mirror.size == part.size) return mirror.memory;
  }
  ASSIGN_OR_RETURN(SharedVector pinned, NewPinned(part.size, "an outgoing message"));
  const Outgoing message(SharedSlice{pinned.data, 0, part.size}, std::make_shared<Watermark>());
  CopyDown(from, message);
  mirrors.push_back({part.offset, part.size, message});
  return message;
}

void DeviceDataPath::CopyDown(const SharedSlice& from, const Outgoing& to) {
  const MemoryRange read[] = {RangeOf(from)};
  order_.Before(*streams_.down, read, {});
  const SharedBytes device(from);
  for (int64_t begin = 0; begin < device.size;) {
    const int64_t end = std::min(begin + options_.chunk * kElement, device.size);
    streams_.down->Download(device.begin + begin, end - begin, to.bytes.begin + begin);
    copy_watcher_.Watch(streams_.down->Record(), [to, end] { to.written->Raise(end); });
    begin = end;
  }
  order_.After(*streams_.down, read, {});
}

absl::StatusOr<Incoming> DeviceDataPath::Post(Rank from, Tag tag, const Payload& into) {
  return std::visit([&](const Part& part) { return PostPart(from, tag, part); }, into);
}

absl::StatusOr<Incoming> DeviceDataPath::PostPart(Rank from, Tag tag, const Part& into) {
  const SharedSlice buffer = vectors_.Slice(into);
  RETURN_IF_ERROR(status_);
  ReleaseRetired();
  ASSIGN_OR_RETURN(SharedVector pinned,
                   NewPinned(into.size, absl::StrCat("a message from rank ", from)));
  Invalidate(into);
  const MemoryRange written[] = {RangeOf(buffer)};
  order_.Before(*streams_.up, {}, written);
  arrivals_[{from, tag}] = {buffer, pinned};
  const auto go_up = [up = streams_.up.get(), host = pinned, buffer](int64_t offset, int64_t size) {
    const auto* bytes = reinterpret_cast<const std::byte*>(host.data.get());
    up->Upload(bytes + offset, size, reinterpret_cast<std::byte*>(buffer.begin()) + offset);
  };
  return Incoming(SharedSlice{pinned.data, 0, into.size}, go_up);
}

void DeviceDataPath::Received(Rank from, Tag tag) {
  const auto arrival = arrivals_.extract({from, tag});
  CHECK(!arrival.empty()) << "a message arrived that was not posted";
  const MemoryRange written[] = {RangeOf(arrival.mapped().buffer)};
  retired_.push_back({order_.After(*streams_.up, {}, written), std::move(arrival.mapped().pinned)});
}

absl::StatusOr<SharedVector> DeviceDataPath::Read(const SharedVector& memory) {
  RETURN_IF_ERROR(status_);
  ASSIGN_OR_RETURN(SharedVector pinned, NewPinned(memory.size, "a copy of a vector"));
  const MemoryRange read[] = {RangeOf(memory)};
  order_.Before(*streams_.down, read, {});
  streams_.down->Download(memory.data.get(), memory.size * kElement, pinned.data.get());
  // The copy is over when this returns: no other stream needs to wait for it.
  RETURN_IF_ERROR(streams_.down->Finish(options_.timeout));
  return pinned;
}

absl::StatusOr<Sketch> DeviceDataPath::SketchOf(Vec vector, int64_t size, uint64_t seed) {
  constexpr int64_t kBytes = sizeof(Sketch);
  const SharedVector& memory = vectors_.At(vector);
  RETURN_IF_ERROR(status_);
  ASSIGN_OR_RETURN(
      std::shared_ptr<void> workspace,
      options_.device->Allocate(kBytes + streams_.mix->SketchWorkspace(size), "a sketch"));
  ASSIGN_OR_RETURN(SharedVector pinned, NewPinned(kBytes / kElement, "a sketch"));
  auto* const sketch = static_cast<double*>(workspace.get());
  const MemoryRange read[] = {{memory.data.get(), 0, size}};
  order_.Before(*streams_.mix, read, {});
  streams_.mix->ComputeSketch(memory.data.get(), size, seed, sketch + kSketchSize, sketch);
  streams_.mix->Download(sketch, kBytes, pinned.data.get());
  RETURN_IF_ERROR(streams_.mix->Finish(options_.timeout));
  Sketch result;
  std::memcpy(result.data(), pinned.data.get(), kBytes);
  return result;
}

void DeviceDataPath::Drop(Vec vector) {
  mirrors_.erase(vector.id);
  vectors_.Drop(vector);
}

absl::Status DeviceDataPath::status() const {
  absl::Status status = status_;
  for (const DeviceStream* stream :
       {streams_.mix.get(), streams_.down.get(), streams_.up.get(), options_.gradients}) {
    status.Update(stream->status());
  }
  return status;
}

}  // namespace grapevine
