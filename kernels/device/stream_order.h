// Which stream waits for which: the order between the streams of a device that use
// the same memory.
//
// A reader waits for the last writes of all other streams, a writer for their last
// reads as well. Memory is known by where it begins, so that the order holds also
// when a vector is dropped and its memory becomes another's; parts of a vector are not
// told apart.
//
// Thread-compatible.
#ifndef GRAPEVINE_KERNELS_DEVICE_STREAM_ORDER_H_
#define GRAPEVINE_KERNELS_DEVICE_STREAM_ORDER_H_

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "kernels/device/device.h"

namespace grapevine {

class StreamOrder {
 public:
  // What is queued on `stream` next may read and write the named memory.
  void Before(DeviceStream& stream, std::span<const void* const> reads,
              std::span<const void* const> writes);
  // It has been queued.
  void After(DeviceStream& stream, std::span<const void* const> reads,
             std::span<const void* const> writes);

 private:
  // The last use by one stream.
  struct Use {
    const DeviceStream* stream;
    std::shared_ptr<DeviceEvent> read;   // null before the first
    std::shared_ptr<DeviceEvent> write;  // likewise
  };

  Use& UseBy(const DeviceStream& stream, const void* memory);

  std::unordered_map<const void*, std::vector<Use>> uses_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_DEVICE_STREAM_ORDER_H_
