// A user's own network as its file says it, every part checked.
#ifndef GRAPEVINE_SIM_PLATFORM_PLATFORM_DESCRIPTION_H_
#define GRAPEVINE_SIM_PLATFORM_PLATFORM_DESCRIPTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "sim/nanoseconds.h"

namespace grapevine {

enum class Duplex {
  kFull,    // the bandwidth in each direction
  kHalf,    // both directions share it
  kOneWay,  // from a to b alone
};

struct PlatformDescription {
  struct Node {
    std::string name;
    bool is_host = true;
  };
  struct Cable {
    int32_t a = 0;  // of `nodes`
    int32_t b = 0;
    double bandwidth = 0;  // bytes per nanosecond
    Nanoseconds latency = 0;
    Duplex duplex = Duplex::kFull;
  };
  std::vector<Node> nodes;  // hosts among them in the order of their numbers
  std::vector<Cable> cables;
  double loopback = 10;
};

// A cable in the words of a file.
struct CableText {
  std::string a;
  std::string b;
  std::string bandwidth;
  std::string latency;
  Duplex duplex = Duplex::kFull;
};

// Puts a description together, in any order but that nodes come before their
// cables. Errors say what is wrong and what to do; where it stands is for the
// reader of the file to add. Thread-compatible.
class PlatformBuilder {
 public:
  absl::Status AddNode(const std::string& name, bool is_host);
  absl::Status AddCable(const CableText& text);
  absl::Status SetLoopback(const std::string& bandwidth);

  const PlatformDescription& description() const { return description_; }

 private:
  absl::Status FindNode(const std::string& name, int32_t* node) const;

  PlatformDescription description_;
  absl::flat_hash_map<std::string, int32_t> numbers_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_PLATFORM_DESCRIPTION_H_
