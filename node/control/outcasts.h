// Nodes without which a run goes on, and what each hears if it comes back.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_OUTCASTS_H_
#define GRAPEVINE_NODE_CONTROL_OUTCASTS_H_

#include <cstdint>
#include <map>
#include <string>

#include "base/ids.h"
#include "base/status.h"
#include "node/control/control.pb.h"

namespace grapevine {

struct Outcast {
  // The process that is left out; 0: any that does not come anew, as its number is not known.
  uint64_t process;
  std::string message;
  Failure failure;
};

class Outcasts {
 public:
  // Leaves a rank out. Returns what its process is to hear.
  const Outcast& Add(Rank rank, Outcast outcast);
  // Reports that another process has come in at this rank.
  void Remove(Rank rank) { outcasts_.erase(rank); }
  // Returns what a process that registers hears; null if it is not left out.
  const Outcast* Find(const control::Registration& registration) const;

 private:
  std::map<Rank, Outcast> outcasts_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_OUTCASTS_H_
