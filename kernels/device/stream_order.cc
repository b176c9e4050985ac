#include "kernels/device/stream_order.h"

#include <algorithm>

namespace grapevine {

void StreamOrder::Before(DeviceStream& stream, std::span<const void* const> reads,
                         std::span<const void* const> writes) {
  for (const void* memory : reads) {
    for (const Use& use : uses_[memory]) {
      if (use.stream != &stream && use.write != nullptr) stream.WaitFor(*use.write);
    }
  }
  for (const void* memory : writes) {
    for (const Use& use : uses_[memory]) {
      if (use.stream == &stream) continue;
      if (use.write != nullptr) stream.WaitFor(*use.write);
      if (use.read != nullptr) stream.WaitFor(*use.read);
    }
  }
}

void StreamOrder::After(DeviceStream& stream, std::span<const void* const> reads,
                        std::span<const void* const> writes) {
  const std::shared_ptr<DeviceEvent> event = stream.Record();
  for (const void* memory : reads) UseBy(stream, memory).read = event;
  for (const void* memory : writes) UseBy(stream, memory).write = event;
}

StreamOrder::Use& StreamOrder::UseBy(const DeviceStream& stream, const void* memory) {
  std::vector<Use>& uses = uses_[memory];
  const auto found = std::ranges::find(uses, &stream, &Use::stream);
  if (found != uses.end()) return *found;
  return uses.emplace_back(Use{&stream, nullptr, nullptr});
}

}  // namespace grapevine
