// Runs a block of a kernel's threads on the CPU: part of the emulation of CUDA (README.md).
//
// The threads are fibers of the calling thread. Each runs until it waits for others (a barrier,
// an exchange within its warp), in a different order in every block: code that is right in only
// one order gives a wrong result sooner or later.
//
// What CUDA leaves undefined ends the process with a message: a barrier that threads reach at
// different places, or that some do not reach; an exchange that a named lane misses, or that
// reads a lane which is not named; more than 48 KiB of shared memory. Shared memory is filled
// with NaNs before a block begins.
//
// One grid runs at a time: callers hold the device's lock (runtime.h).
#ifndef GRAPEVINE_TESTS_EMULATED_CUDA_BLOCK_H_
#define GRAPEVINE_TESTS_EMULATED_CUDA_BLOCK_H_

#include <vector_types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>

namespace emulated_cuda {

// The position of the running thread: threadIdx and the like.
struct Place {
  uint3 thread;
  uint3 block;
  dim3 block_size;
  dim3 grid_size;
};
extern Place place;

// Runs `thread` once for each thread of a grid: one block after the other, in ascending or
// descending order.
void RunGrid(const dim3& grid_size, const dim3& block_size, const std::function<void()>& thread);

// Called by threads of a block:

// Shared memory that the kernel declares.
void UseShared(void* memory, size_t bytes);

// Waits for all threads that have not returned.
void MeetBlock(const std::source_location& where);

// Waits for all lanes in `mask`. Returns the value of lane `source`, which is in the mask.
uint64_t Exchange(unsigned mask, uint64_t value, unsigned source,
                  const std::source_location& where);
// The same for one bit a lane; bit i is lane i's.
unsigned Vote(unsigned mask, bool mine, const std::source_location& where);

// This thread's lane in its warp.
unsigned Lane();

}  // namespace emulated_cuda

#endif  // GRAPEVINE_TESTS_EMULATED_CUDA_BLOCK_H_
