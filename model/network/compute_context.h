// Where objectives and evaluators compute, and keep replicas and gradients. A plain value.
#ifndef GRAPEVINE_MODEL_NETWORK_COMPUTE_CONTEXT_H_
#define GRAPEVINE_MODEL_NETWORK_COMPUTE_CONTEXT_H_

#include <chrono>

#include "kernels/device/device.h"
#include "kernels/tensor/tensor_device.h"
#include "model/data/batch.h"

namespace grapevine {

struct ComputeContext {
  Device* device = nullptr;                // null: the CPU
  DeviceStream* stream = nullptr;          // of the device, on which everything is queued
  Precision precision = Precision::kFp32;  // of networks on a device
  BatchMemory* batches = nullptr;          // of their images; null: ordinary memory
  // For one wait for the device.
  std::chrono::nanoseconds timeout = std::chrono::minutes(15);
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORK_COMPUTE_CONTEXT_H_
