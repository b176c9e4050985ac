// The block of threads that every kernel of a codec runs in.
#ifndef GRAPEVINE_KERNELS_CUDA_CODEC_BLOCK_H_
#define GRAPEVINE_KERNELS_CUDA_CODEC_BLOCK_H_

namespace grapevine {

inline constexpr int kThreads = 256;
inline constexpr int kWarp = 32;
inline constexpr int kWarps = kThreads / kWarp;

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CODEC_BLOCK_H_
