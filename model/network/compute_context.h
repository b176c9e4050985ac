// The place where objectives and evaluators compute and keep replicas and gradients. A plain value.
#ifndef GRAPEVINE_MODEL_NETWORK_COMPUTE_CONTEXT_H_
#define GRAPEVINE_MODEL_NETWORK_COMPUTE_CONTEXT_H_

#include <chrono>

#include "kernels/device/device.h"
#include "kernels/tensor/tensor_device.h"
#include "model/data/batch.h"

namespace grapevine {

struct ComputeContext {
  Device* device = nullptr;                // null: the CPU
  DeviceStream* stream = nullptr;          // the device's stream on which all work is queued
  Precision precision = Precision::kFp32;  // precision of networks on a device
  BatchMemory* batches = nullptr;          // memory of batches' images; null: ordinary memory
  // Longest time to wait for the device, for each wait.
  std::chrono::nanoseconds timeout = std::chrono::minutes(15);
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORK_COMPUTE_CONTEXT_H_
