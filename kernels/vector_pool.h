// Vectors that are used again instead of being freed and faulted in anew.
#ifndef GRAPEVINE_KERNELS_VECTOR_POOL_H_
#define GRAPEVINE_KERNELS_VECTOR_POOL_H_

#include <cstdint>
#include <memory>

#include "kernels/aligned_buffer.h"

namespace grapevine {

// Thread-safe. Vectors may outlive the pool: the last holder frees them then.
class VectorPool {
 public:
  VectorPool();

  // An undefined vector of `size` elements: one that came back, or a new one.
  SharedVector Take(int64_t size);

  // Bytes in vectors that are out or waiting to be used again.
  int64_t bytes() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_POOL_H_
