// What is left of a capacity, without rounding: the same whatever the order in
// which rates were taken and given back, and without drift over any number of
// them.
#ifndef GRAPEVINE_SIM_NETWORK_RATE_SUM_H_
#define GRAPEVINE_SIM_NETWORK_RATE_SUM_H_

namespace grapevine {

// Rates are counted in units of 2^-80 bytes per nanosecond: exact for every double
// from 8 bytes a second upwards, and 10^14 bytes per nanosecond fit. Thread-compatible.
class RateSum {
 public:
  explicit RateSum(double capacity) : left_(Units(capacity)) {}

  void Take(double rate) { left_ -= Units(rate); }
  void GiveBack(double rate) { left_ += Units(rate); }
  // The double next to it.
  double left() const { return static_cast<double>(left_) * 0x1p-80; }

 private:
  static __int128 Units(double rate) { return static_cast<__int128>(rate * 0x1p80); }

  __int128 left_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_NETWORK_RATE_SUM_H_
