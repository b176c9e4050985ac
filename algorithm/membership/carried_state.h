// The state of an algorithm's instance on its way to the next one, which begins where it rests:
// first the old one shows what it keeps, then the new one what it has begun with, to be overwritten
// (Algorithm::VisitState).
//
// Thread-compatible.
#ifndef GRAPEVINE_ALGORITHM_MEMBERSHIP_CARRIED_STATE_H_
#define GRAPEVINE_ALGORITHM_MEMBERSHIP_CARRIED_STATE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "algorithm/host.h"
#include "algorithm/state_visitor.h"

namespace grapevine {

class CarriedState final : public StateVisitor {
 public:
  // `host` outlives it, and is that of both instances.
  explicit CarriedState(Host* host) : host_(host) {}

  // What is shown from now on is the new instance's, and takes what the old one had; whose vectors
  // are dropped.
  void HandOver() { taken_ = true; }
  // Whether the two have shown the same. An error names what they have not, or what is still on its
  // way to the old one.
  absl::Status Finish();

  void Vector(std::string_view name, Vec vector) override;
  void Number(std::string_view name, double* number) override;
  // Every view begins with weights that sum to its size: had the lost taken theirs along, the rest
  // would step too far for good (push_sum_averaging.h: lr / w_i).
  void Weight(std::string_view, double*) override {}
  void Rounds(std::string_view name, int64_t* rounds) override;
  void Message(std::string_view name, const StateMessage& message) override;

 private:
  template <typename T>
  void Carry(std::map<std::string, T, std::less<>>& kept, std::string_view name, T* value);

  Host* const host_;
  bool taken_ = false;
  std::map<std::string, Vec, std::less<>> vectors_;
  std::map<std::string, double, std::less<>> numbers_;
  std::map<std::string, int64_t, std::less<>> rounds_;
  absl::Status status_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_MEMBERSHIP_CARRIED_STATE_H_
