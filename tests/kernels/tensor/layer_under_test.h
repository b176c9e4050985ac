// Checks the layers of any device against the references: shared by cpu_layers_test and
// cuda_layers_test.
#ifndef GRAPEVINE_TESTS_KERNELS_TENSOR_LAYER_UNDER_TEST_H_
#define GRAPEVINE_TESTS_KERNELS_TENSOR_LAYER_UNDER_TEST_H_

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/tensor/reference/operation.h"
#include "kernels/tensor/tensor_device.h"
#include "tests/kernels/tensor/operation_cases.h"

namespace grapevine {

// A device, and how the host reaches its memory.
class DeviceUnderTest {
 public:
  virtual ~DeviceUnderTest() = default;

  virtual TensorDevice& device() = 0;
  virtual ElementType type() const { return ElementType::kFloat32; }
  // Whether products round fp32 factors to 10 bits.
  virtual bool tf32() const { return false; }
  // Relative to the largest value of a tensor.
  virtual float tolerance() const = 0;
  virtual void Write(const void* host, int64_t bytes, void* memory) = 0;
  virtual void Read(const void* memory, int64_t bytes, void* host) = 0;
};

struct LayerCase {
  OperationCase operation;
  Layout layout;
  int consumers = 1;

  friend std::ostream& operator<<(std::ostream& out, const LayerCase& c) {
    return out << c.operation << " " << ToString({c.operation.inputs[0], c.layout}) << ", "
               << c.consumers << " consumers";
  }
};

// Every operation in `layouts`, and two of them with several consumers.
std::vector<LayerCase> LayerCases(const std::vector<Layout>& layouts);
// Every operation in `layouts`, without gradients: the consumers of its inputs make no
// difference.
std::vector<LayerCase> InferenceCases(const std::vector<Layout>& layouts);
std::string NameOf(const LayerCase& c);

// Forward and backward of a batch in training.
void ExpectAgreesWithTheReference(const LayerCase& c, DeviceUnderTest& device);
void ExpectAgreesInInference(const LayerCase& c, DeviceUnderTest& device);
void ExpectRepeatsItselfBitByBit(const LayerCase& c, DeviceUnderTest& device);

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_KERNELS_TENSOR_LAYER_UNDER_TEST_H_
