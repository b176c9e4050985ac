// Which stream waits for which: the order between the streams of a device that use
// the same memory.
//
// A reader waits for the writes of other streams that overlap what it reads, a writer
// for their reads as well; for the last one of each stream, and not again for one that
// it has waited for. Memory is known by where it begins, so that the order holds also
// when a vector is dropped and its memory becomes another's.
//
// A use is forgotten once a later one stands for it: of the same stream, or a write by
// a stream that waited for it, where the later range covers it. Whoever would wait for
// the older use waits for the later one. So pieces of a vector that are used again and
// again take one place each, and a write of the whole vector leaves one place. In no
// case are there more than kMaxUses of one stream in one memory: then its two oldest
// become one that covers both. That orders more than is needed, never less, and behind
// work that is long over.
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

  // What is queued on `stream` from now on may read and write these ranges. What other
  // streams begin before After is not ordered with it.
  void Before(DeviceStream& stream, std::span<const MemoryRange> reads,
              std::span<const MemoryRange> writes);
  // It has been queued; what was queued by now has passed with the event returned.
  std::shared_ptr<DeviceEvent> After(DeviceStream& stream, std::span<const MemoryRange> reads,
                                     std::span<const MemoryRange> writes);

  // Uses that are remembered, for tests of the bound.
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
  // Whether what `stream` queues next comes after `use` in any case.
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
