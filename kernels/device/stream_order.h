// Which stream waits for which: the order between a device's streams that use the same memory.
//
// A reader waits for other streams' writes that overlap what it reads, a writer for their reads
// as well; for the last one of each stream, and not twice for the same one. Memory is
// identified by its start, so that the order also holds when a vector is dropped and its memory
// reused.
//
// A use is forgotten once a later one replaces it: one of the same stream, or a write by a
// stream that waited for it, whose range covers it. Whoever would wait for the older use waits
// for the later one. So pieces of a vector that are used repeatedly take one entry each, and a
// write of the whole vector leaves one entry. There are never more than kMaxUses of one stream
// in one memory: beyond that its two oldest are merged into one that covers both. That orders
// more than necessary, never less, and only behind work that is long done.
//
// Thread-compatible. The streams outlive it.
#ifndef GRAPEVINE_KERNELS_DEVICE_STREAM_ORDER_H_
#define GRAPEVINE_KERNELS_DEVICE_STREAM_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "kernels/device/device.h"

namespace grapevine {

// Elements [begin, end) of the memory that begins at `memory`.
struct MemoryRange {
  const void* memory;
  int64_t begin;
  int64_t end;

  bool empty() const { return begin == end; }
};

class StreamOrder {
 public:
  static constexpr size_t kMaxUses = 64;

  // Work queued on `stream` from now on may read and write these ranges. Work that other
  // streams begin before After is not ordered with it.
  void Before(DeviceStream& stream, std::span<const MemoryRange> reads,
              std::span<const MemoryRange> writes);
  // The work has been queued; it is done when the returned event has passed.
  std::shared_ptr<DeviceEvent> After(DeviceStream& stream, std::span<const MemoryRange> reads,
                                     std::span<const MemoryRange> writes);

  // The number of remembered uses, for tests of the bound.
  size_t uses(const void* memory) const;

 private:
  struct Use {
    size_t stream;  // index in streams_
    int64_t begin;
    int64_t end;
    bool writes;
    int64_t number;  // of the event, counted over all streams
    std::shared_ptr<DeviceEvent> event;
  };
  struct Stream {
    const DeviceStream* stream;
    std::vector<int64_t> waited_for;  // the number of the last event, by stream; or 0
  };
  using Uses = std::vector<Use>;  // of one memory, in the order of their numbers

  size_t IndexOf(const DeviceStream& stream);
  // Whether the next work of `stream` comes after `use` anyway.
  bool Follows(size_t stream, const Use& use) const {
    return stream == use.stream || use.number <= streams_[stream].waited_for[use.stream];
  }
  void Remember(const void* memory, Use use);

  std::vector<Stream> streams_;
  std::unordered_map<const void*, Uses> uses_;
  int64_t last_number_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_DEVICE_STREAM_ORDER_H_
