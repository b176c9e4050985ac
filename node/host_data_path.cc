#include "node/host_data_path.h"

namespace grapevine {

void HostDataPath::Pass(std::span<const Vec>, std::span<const Vec>, int64_t bytes,
                        const std::function<void()>& pass) {
  const auto begin = std::chrono::steady_clock::now();
  pass();
  on_pass_(begin, std::chrono::steady_clock::now(), bytes);
}

}  // namespace grapevine
