#include "kernels/tensor/cuda/library/cudnn_library.h"

#include <glog/logging.h>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kernels/tensor/cuda/library/shared_library.h"

namespace grapevine {
namespace {

absl::StatusOr<CudnnLibrary> Load() {
  SharedLibrary file(absl::StrCat("libcudnn.so.", CUDNN_MAJOR),
                     absl::StrCat("cuDNN ", CUDNN_MAJOR));
  CudnnLibrary library{};
  file.Find("cudnnGetVersion", &library.get_version);
  file.Find("cudnnGetErrorString", &library.get_error_string);
  file.Find("cudnnGetLastErrorString", &library.get_last_error_string);
  file.Find("cudnnCreate", &library.create);
  file.Find("cudnnDestroy", &library.destroy);
  file.Find("cudnnSetStream", &library.set_stream);
  file.Find("cudnnBackendCreateDescriptor", &library.create_descriptor);
  file.Find("cudnnBackendDestroyDescriptor", &library.destroy_descriptor);
  file.Find("cudnnBackendSetAttribute", &library.set_attribute);
  file.Find("cudnnBackendGetAttribute", &library.get_attribute);
  file.Find("cudnnBackendFinalize", &library.finalize);
  file.Find("cudnnBackendExecute", &library.execute);
  RETURN_IF_ERROR(file.status());
  return library;
}

const absl::StatusOr<CudnnLibrary>& Loaded() {
  static const absl::StatusOr<CudnnLibrary> loaded = Load();
  return loaded;
}

}  // namespace

absl::Status LoadCudnn() { return Loaded().status(); }

const CudnnLibrary& Cudnn() {
  CHECK(Loaded().ok()) << Loaded().status();
  return *Loaded();
}

}  // namespace grapevine
