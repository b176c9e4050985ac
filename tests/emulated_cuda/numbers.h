// Arrays of numbers in memory, with which the emulated libraries compute in fp32. Part of the
// emulation of CUDA (README.md).
#ifndef GRAPEVINE_TESTS_EMULATED_CUDA_NUMBERS_H_
#define GRAPEVINE_TESTS_EMULATED_CUDA_NUMBERS_H_

#include <library_types.h>

#include <cstddef>
#include <vector>

namespace emulated_cuda {

size_t BytesOf(cudaDataType_t type);

// Whether a product may read or write `count` numbers at `memory`: reachable by the GPU, and
// aligned to 16 bytes.
bool IsOperand(cudaDataType_t type, const void* memory, size_t count);

// For CUDA_R_32F, CUDA_R_16F or CUDA_R_16BF.
std::vector<float> Read(cudaDataType_t type, const void* from, size_t count);
void Write(const std::vector<float>& values, cudaDataType_t type, void* to);

// Rounds fp32 factors to 10 bits, as tensor cores do.
void RoundToTf32(std::vector<float>* values);

}  // namespace emulated_cuda

#endif  // GRAPEVINE_TESTS_EMULATED_CUDA_NUMBERS_H_
