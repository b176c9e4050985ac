// Where objectives and assessors compute, and replicas and gradients lie. A plain value.
#ifndef GRAPEVINE_MODEL_COMPUTE_PLACE_H_
#define GRAPEVINE_MODEL_COMPUTE_PLACE_H_

#include "kernels/device/device.h"

namespace grapevine {

struct ComputePlace {
  Device* device = nullptr;        // null: the CPU
  DeviceStream* stream = nullptr;  // of the device, on which everything is queued
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_COMPUTE_PLACE_H_
