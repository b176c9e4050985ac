// The graphs of one convolution: forward, and the two gradients.
//
// Values. Nothing here needs a GPU.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_CONVOLUTION_GRAPHS_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_CONVOLUTION_GRAPHS_H_

#include "kernels/tensor/cuda/library/cudnn_graph.h"
#include "kernels/tensor/layer.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {

// Ids of the graphs' arguments.
enum ConvolutionArgument : int64_t { kInput = 1, kWeights = 2, kOutput = 3, kBias = 4 };

class ConvolutionGraphs {
 public:
  ConvolutionGraphs(const Convolution& operation, const TensorFormat& input);

  const TensorFormat& output() const { return output_; }
  // (out, in, kh, kw) in cuDNN's order, of the input's type. So is the bias: cuDNN has no
  // engine that adds an fp32 bias to bf16 or fp16.
  const TensorFormat& weights() const { return weights_; }

  // The product alone; kInput, kWeights and kOutput are gradients in passes that write these.
  CudnnGraph Product(CudnnGraph::Pass pass) const;
  // Forward with the bias and the ReLU that the operation has.
  CudnnGraph Fused() const;

 private:
  std::string Name(std::string_view pass) const;

  const Convolution operation_;
  const TensorFormat input_;
  TensorFormat output_;
  TensorFormat weights_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_CONVOLUTION_GRAPHS_H_
