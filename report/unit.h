// The unit in which a quantity is easy to read: for axes, and for means beside their deviations.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_REPORT_UNIT_H_
#define GRAPEVINE_REPORT_UNIT_H_

namespace grapevine {

struct Unit {
  const char* name;  // "MB"; may be empty
  double size;       // values are divided by it
};

// Returns the unit for values up to `greatest`, in bytes: TB to B.
Unit UnitOfBytes(double greatest);

// Returns the unit for values up to `greatest`, in seconds: h from two hours on, min from three
// minutes on, else s.
Unit UnitOfSeconds(double greatest);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_UNIT_H_
