#include "tests/testing/certificates.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace grapevine::testing {

bool CanMakeCertificates() { return std::system("openssl version > /dev/null 2>&1") == 0; }

bool MakeCertificates(const std::string& folder, const std::string& run, int nodes,
                      const std::string& names, int days) {
  return std::system(absl::StrCat("DAYS=", days, " tools/make_certificates '", folder, "' ", run,
                                  " ", nodes, " ", names)
                         .c_str()) == 0;
}

}  // namespace grapevine::testing
