#include "node/runner/host_data_path.h"

#include <variant>

namespace grapevine {

void HostDataPath::Pass(std::span<const Part>, std::span<const Part>, int64_t bytes,
                        const std::function<void()>& pass) {
  const auto begin = std::chrono::steady_clock::now();
  pass();
  on_pass_(begin, std::chrono::steady_clock::now(), bytes);
}

SharedBytes HostDataPath::MemoryOf(const Payload& payload) const {
  return std::visit([this](const Part& part) { return SharedBytes(vectors_.Slice(part)); },
                    payload);
}

}  // namespace grapevine
