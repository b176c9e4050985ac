// A library that is loaded on first use, not with the program.
//
// cuDNN and cuBLASLt are hundreds of megabytes, which runs without a GPU would otherwise map and
// wait for too. Loaded libraries stay until the process ends. Thread-compatible.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_SHARED_LIBRARY_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_SHARED_LIBRARY_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace grapevine {

class SharedLibrary {
 public:
  // Loads `file` ("libcudnn.so.9"), a part of `product` ("cuDNN 9"), from the loader's search
  // path, or else from the CUDA Toolkit with which the program was built.
  SharedLibrary(std::string file, std::string product);

  // Stores the address of function `name` in `*function`, which has the type that the library's
  // header declares.
  template <typename Function>
  void Find(const char* name, Function** function) {
    *function = reinterpret_cast<Function*>(Address(name));
  }

  // Returns OK, or Unavailable with the first error: the file, the loader's message, and the
  // remedy.
  const absl::Status& status() const { return status_; }

 private:
  void* Address(const char* name);
  void Fail(std::string_view said);

  const std::string file_;
  const std::string product_;
  void* library_ = nullptr;
  absl::Status status_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_SHARED_LIBRARY_H_
