// The order between a device's streams that use the same memory: which stream waits for which.
//
// A reader waits for other streams' writes that overlap its range, a writer for their reads as
// well. It waits for the last such use of each stream, and never twice for the same use. Memory is
// identified by its start, so that the order also holds when a vector is dropped and its memory
// reused.
//
// A use is forgotten once a later use, whose range covers it, replaces it: a use by the same
// stream, or a write by a stream that waited for it. A stream that would wait for the older use
// waits for the later one instead. Pieces of a vector that are used repeatedly thus take one entry
// each, and a write of the whole vector leaves one entry. One memory has at most kMaxUses uses of
// one stream: beyond that, the stream's two oldest uses are merged into one that covers both. The
// merged use orders more than necessary, never less, and only behind work that is long done.
//
// Thread-compatible. The streams must outlive the order.
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

  // Lets work that is queued on `stream` from now on read and write these ranges. That work is not
  // ordered with work that other streams begin before the matching call of After.
  void Before(DeviceStream& stream, std::span<const MemoryRange> reads,
              std::span<const MemoryRange> writes);
  // Records that work on these ranges has been queued on `stream`. The work is done when the
  // returned event has passed.
  std::shared_ptr<DeviceEvent> After(DeviceStream& stream, std::span<const MemoryRange> reads,
                                     std::span<const MemoryRange> writes);

  // Returns the number of remembered uses of `memory`, for tests of the bound.
  size_t uses(const void* memory) const;

 private:
  struct Use {
    size_t stream;  // index in streams_
    int64_t begin;
    int64_t end;
    bool writes;
    int64_t number;  // number of the event, counted over all streams
    std::shared_ptr<DeviceEvent> event;
  };
  struct Stream {
    const DeviceStream* stream;
    std::vector<int64_t> waited_for;  // by stream: the number of its last awaited event, or 0
  };
  using Uses = std::vector<Use>;  // the uses of one memory, in the order of their numbers

  size_t IndexOf(const DeviceStream& stream);
  // Returns whether the next work of `stream` comes after `use` without another wait.
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
