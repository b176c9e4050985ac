// Vectors that are used again instead of being freed and faulted in anew.
#ifndef GRAPEVINE_KERNELS_VECTOR_VECTOR_POOL_H_
#define GRAPEVINE_KERNELS_VECTOR_VECTOR_POOL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "kernels/vector/aligned_buffer.h"

namespace grapevine {

// Where vectors come from: undefined elements, or no data where there is no memory. An
// error says `what` it was for: "the gradient".
using AllocateVector = std::function<SharedVector(int64_t size, std::string_view what)>;

// Thread-safe. Vectors may outlive the pool: the last holder frees them then.
class VectorPool {
 public:
  // On the CPU.
  VectorPool();
  explicit VectorPool(AllocateVector allocate);

  // An undefined vector of `size` elements: one that came back, or a new one; no data
  // where `allocate` had none.
  SharedVector Take(int64_t size, std::string_view what);

  // Bytes in vectors that are out or waiting to be used again.
  int64_t bytes() const;

 private:
  struct State;
  std::shared_ptr<float[]> Allocate(int64_t size, std::string_view what);

  const AllocateVector allocate_;
  std::shared_ptr<State> state_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_VECTOR_POOL_H_
