// Certificates for tests, made as users make them: by tools/make_certificates.
#ifndef GRAPEVINE_TESTS_TESTING_CERTIFICATES_H_
#define GRAPEVINE_TESTS_TESTING_CERTIFICATES_H_

#include <string>

namespace grapevine::testing {

// Whether there is openssl to make them.
bool CanMakeCertificates();

// An authority and one certificate for each rank in `folder`, which is created; an authority that
// is there already is kept. `names`: subjectAltNames besides, blanks between them. False, with the
// reason in the test's output, if that failed.
bool MakeCertificates(const std::string& folder, const std::string& run, int nodes,
                      const std::string& names = "", int days = 2);

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_TESTING_CERTIFICATES_H_
